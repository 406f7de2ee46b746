"""How the scores of a result's items are spread: for those who may read single items, nobody else.

A phase that rounds, tells later, or tells a part, shows nobody but organisers single items, and
their spread would undo as much.
"""

from django.db.models import Count, F
from django.db.models.functions import Floor

from scoring.access import Viewer, require_items
from scoring.charts.bar_specs import HEIGHT
from scoring.charts.look import Words
from scoring.charts.shapes import Axis, Bar, Bars
from scoring.models import Grading, Submission

from .chart_files import ROOMS, Form, Picture, Size
from .charts import BoardChart
from .drawings import Sketch, kept_png, kept_svgs

_RANGES = 10
# 0.7 is seven tenths, however it is stored.
_NEARLY = 1e-9


def score_chart(user: Viewer, submission: Submission, grading: Grading) -> BoardChart:
    """404 unless the reader may see single items. One query."""
    require_items(user, submission, grading.release)
    counts = [0] * _RANGES
    unscored = 0
    tenths = grading.item_scores.order_by().annotate(
        tenth=Floor(F("score") * float(_RANGES) + _NEARLY)
    )
    for tenth, count in tenths.values_list("tenth").annotate(Count("pk")):
        if tenth is None:
            unscored += count
        else:
            counts[max(0, min(int(tenth), _RANGES - 1))] += count
    bars = tuple(Bar(i / _RANGES, (i + 1) / _RANGES, count) for i, count in enumerate(counts))
    told = "How many items have which score, each as if it were the whole submission."
    if unscored:
        told += f" Without a score of their own, and not here: {unscored:,}."
    return BoardChart(
        key="scores",
        title="Scores of the items",
        told=told,
        shape=Bars(Axis("Score of the item", "%", 0), "Items", bars) if any(counts) else None,
        too_little="No item has a score of its own.",
    )


def score_picture(chart: BoardChart, form: Form, size: str = "") -> bytes:
    """Of a chart with a shape, drawn once for what it says. Raises DrawingError."""
    assert chart.shape is not None
    if form == "png":
        return kept_png(chart.shape)
    sketch = Sketch(chart.shape, Words(chart.title, chart.told), ROOMS[size])
    return kept_svgs({size: sketch})[size].encode()


def score_frame(chart: BoardChart) -> Picture:
    """The picture as a page shows it before it is drawn: its size is known."""
    return Picture(chart, *(Size(room.width, HEIGHT) for room in ROOMS.values()))
