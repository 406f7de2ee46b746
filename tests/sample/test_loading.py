"""The loaded sample boards: phases, entries of the real grader, acceptance."""

import pytest

from portal.accounts.models import User
from portal.datasets.acceptance.selectors import batch_acceptance, batch_verdicts
from portal.datasets.models import Batch, BatchDocument, Dataset, Document, Inspection, Release
from sample.boards import SAMPLES, SampleBenchmark, load_benchmark
from sample.loader import load_people
from scoring.benchmarks import GoldLine, PredictionLine, get_benchmark
from scoring.boards.limits import quota
from scoring.boards.selectors import example_file
from scoring.models import Board, Entry, Phase

pytestmark = pytest.mark.django_db


def offline(sample: SampleBenchmark, phase: Phase, entry: Entry) -> dict[str, float | None]:
    """Computes the figures of a shipped submission without the site."""
    spec = get_benchmark(sample.key)
    options = spec.check_options(phase.options)
    assert entry.grading is not None
    path = sample.folder / "submissions" / phase.slug / entry.grading.submission.filename
    gold = [line for line in spec.read_gold(sample.gold(phase.slug)) if isinstance(line, GoldLine)]
    predictions = {
        line.id: line.payload
        for line in spec.read_predictions(path)
        if isinstance(line, PredictionLine)
    }
    results = [spec.score_item(line.payload, predictions[line.id], options) for line in gold]
    return spec.aggregate(results, options).scores


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.key)
def test_a_board_is_loaded_once_and_is_complete(sample: SampleBenchmark) -> None:
    """Loading a board is slow, so one test checks all of it."""
    cast = load_people()
    board = load_benchmark(sample, cast)
    assert board.is_sample
    entries_have_the_figures_of_the_grader(sample, board)
    if sample.key in ("fcmbench", "receiptbench"):
        has_a_hidden_part_with_limits(board, cast)
    if sample.key == "receiptbench":
        one_batch_is_accepted_and_one_half_inspected()
    load_benchmark(sample, cast)
    graded = board.entries.filter(kind=Entry.Kind.GRADED)
    assert graded.count() == sum(len(sample.submissions(split)) for split in sample.splits)
    assert Dataset.objects.get(slug=sample.slug).imports.count() == len(sample.sources) + (
        1 if sample.after_release else 0
    )


def entries_have_the_figures_of_the_grader(sample: SampleBenchmark, board: Board) -> None:
    graded = board.entries.filter(kind=Entry.Kind.GRADED).select_related("grading__submission")
    for phase in board.phases.all():
        entries = [entry for entry in graded if entry.phase_id == phase.pk]
        assert len(entries) == len(sample.submissions(phase.slug))
        for entry in entries:
            assert entry.is_sample
            assert entry.grading is not None
            assert entry.grading.scores == offline(sample, phase, entry)


def has_a_hidden_part_with_limits(board: Board, cast: dict[str, User]) -> None:
    dev, test = board.phases.order_by("id")
    assert test.release.visibility == Release.Visibility.GOLD_HIDDEN
    assert (test.release.opens(dev.split), test.release.opens(test.split)) == (True, False)
    left = quota(test, cast["researcher"])
    assert left.day is not None
    assert left.total is not None
    assert (left.day.left, left.total.left) == (1, 4)
    assert quota(dev, cast["researcher"]).allowances == []
    offered = example_file(Board.objects.get(pk=board.pk))
    assert offered is not None
    assert offered.submission.phase == dev
    assert offered.submission.category == "ocr_pipeline"


def one_batch_is_accepted_and_one_half_inspected() -> None:
    dataset = Dataset.objects.get(slug="sample-receipts")
    first, second = dataset.batches.order_by("number")
    assert (first.state, second.state) == (Batch.State.ACCEPTED, Batch.State.OPEN)
    acceptance = batch_acceptance(second, batch_verdicts(second))
    # Three of six receipts are done, and eight of 19 fields of the fourth. One total is wrong.
    assert acceptance.overall.n == 3 * 19 + 8
    assert acceptance.failing == ("std_total",)
    wrong = Inspection.objects.get(is_right=False)
    assert (wrong.batch_document.document.name, wrong.correct_value) == ("receipt-24", "168.00")
    faulty = BatchDocument.objects.filter(batch=second).exclude(faults=[])
    assert {each.document.name for each in faulty} == {"receipt-23", "receipt-24"}
    # Documents under inspection are not in a release.
    release = dataset.releases.get()
    assert not release.items.filter(document__in=second.documents.values("document")).exists()
    assert Document.objects.filter(dataset=dataset, state=Document.State.HELD).count() == 0
