"""The accuracy of a dataset's batches as a chart."""

from collections.abc import Sequence

from portal.datasets.models import Dataset
from portal.web.charts import Line, LineChart, Point, line_chart

from .acceptance import ClosedBatch

# Fewer make no line.
_LEAST = 2
_MOST = 40


def accuracy_chart(dataset: Dataset, closed: Sequence[ClosedBatch]) -> LineChart | None:
    """Overall accuracy of the latest closed batches, with intervals; None for fewer than two."""
    shown = closed[-_MOST:]
    if len(shown) < _LEAST:
        return None
    points = [_point(batch) for batch in shown]
    lowest = min(end for one in points for end in (one.low, one.value, 1.0) if end is not None)
    return line_chart(
        "accuracy",
        f"Accuracy of the batches of {dataset.title}, with 95 % intervals",
        [str(batch.number) for batch in shown],
        [Line("first", "all fields together", points)],
        axis="batch",
        step=0.05 if lowest >= 0.7 else 0.2,
    )


def _point(batch: ClosedBatch) -> Point:
    overall = batch.overall
    interval = overall.interval
    told = f"batch {batch.number}, {batch.state}: {100 * (overall.accuracy or 0):.1f} %"
    if interval is None:
        return Point(overall.accuracy, None, None, told)
    told += f" [{100 * interval.low:.1f}, {100 * interval.high:.1f}], n = {overall.n:,}"
    return Point(overall.accuracy, interval.low, interval.high, told)
