"""A variant with the normal images and a rotated copy of each, for CC-OCR's table 7."""

import io

import pytest
from PIL import Image

from portal.accounts.models import User
from portal.datasets.models import Dataset, Document, DocumentRecord, PageImage, Release
from portal.datasets.models.documents import NORMAL_AND_ROTATED
from portal.datasets.releases.services import freeze_lines
from portal.datasets.variants.captures import CAPTURES
from portal.datasets.variants.services import VariantError, VariantSpec, create_variant
from portal.jobs.worker import run_due_jobs
from scoring.benchmarks import Payload
from scoring.boards.protection import NewPhase
from scoring.boards.services import create_board, set_board_state
from scoring.leaderboard.selectors import leaderboard
from scoring.models import Board
from scoring.submissions.services import publish_submission
from tests.datasets.factories import add_image
from tests.datasets.variants.factories import base_dataset, derived, image_bytes, page_png
from tests.factories import empty_dataset, make_picture
from tests.scoring.factories import first_phase, send_lines

pytestmark = pytest.mark.django_db

BOTH = VariantSpec(kind="normal_and_rotated", strength=1, seed=3)
WORDS = {"p0": "Exit only", "p1": "Grand Hotel", "p2": "Total due", "p3": "Room key"}


def line(name: str) -> Payload:
    subset = "IC15" if name in {"p0", "p1"} else "FUNSD"
    return {
        "id": name,
        "subset": subset,
        "track": "multi_scene",
        "op": "ocr",
        "answer": WORDS[name],
    }


def key(name: str) -> str:
    """CC-OCR names an item by its subset and id."""
    return f"{line(name)['subset']}:{name}"


def reading_base(visibility: str = "public") -> tuple[Dataset, Release]:
    dataset = empty_dataset(slug="base", title="Base", visibility="public")
    for number, name in enumerate(WORDS):
        document = make_picture(dataset, name)
        DocumentRecord.objects.create(document=document, benchmark="ccocr", gold=line(name))
        add_image(document, page_png(number))
    release = freeze_lines(
        dataset=dataset,
        version="1.0.0",
        benchmark="ccocr",
        lines={key(name): line(name) for name in WORDS},
        documents={key(each.name): each for each in dataset.documents.all()},
        visibility=visibility,
    )
    return dataset, release


def both(release: Release, base: Dataset) -> Dataset:
    return derived(base, VariantSpec(**{**BOTH.__dict__, "release": release}))


def test_each_image_is_there_normally_and_rotated() -> None:
    base, release = reading_base()
    variant = both(release, base)
    images, originals = image_bytes(variant), image_bytes(base)
    turned = {name.partition("@")[0]: name for name in images if "@" in name}
    assert set(turned) == set(WORDS)
    assert len(images) == 8
    for name in WORDS:
        degrees = int(turned[name].partition("@")[2])
        normal, rotated, source = (
            Image.open(io.BytesIO(data)).convert("RGB")
            for data in (images[name], images[turned[name]], originals[name])
        )
        assert normal.tobytes() == source.tobytes()
        assert rotated.tobytes() == source.rotate(-degrees, expand=True).tobytes()
    plain = PageImage.objects.filter(document__dataset=variant, transform__isnull=True)
    assert plain.count() == 4


def test_the_release_has_both_and_every_rotated_line_states_its_orientation() -> None:
    base, release = reading_base()
    variant = both(release, base)
    copied = variant.releases.get()
    items = list(copied.items.select_related("document"))
    assert len(items) == 8
    for item in items:
        name, gold, document = item.gold["id"], item.gold, item.document
        assert document is not None
        bare, _, degrees = name.partition("@")
        assert (document.name, item.name) == (name, f"{gold['subset']}:{name}")
        stated = {"orientation": int(degrees), "id": name} if degrees else {}
        assert gold == line(bare) | stated
    assert "all 4 items" in copied.notes


def test_deriving_twice_changes_nothing() -> None:
    base, release = reading_base()
    before = image_bytes(both(release, base))
    assert image_bytes(both(release, base)) == before


def test_hidden_documents_are_hidden_under_both_names() -> None:
    base, release = reading_base("gold_hidden")
    variant = both(release, base)
    hidden = Document.objects.filter(dataset=variant)
    one_by_one = hidden.filter(Document.objects.all().open_condition())
    together = hidden.filter(Document.objects.all().open_condition_in(variant))
    assert not one_by_one.exists()
    assert not together.exists()


def test_a_copy_without_a_release_is_as_hidden_as_its_original() -> None:
    base, _ = reading_base("gold_hidden")
    variant = derived(base, BOTH)
    copies = Document.objects.filter(dataset=variant)
    assert copies.count() == 8
    assert not copies.filter(Document.objects.all().open_condition()).exists()
    assert not copies.filter(Document.objects.all().open_condition_in(variant)).exists()


def test_documents_of_other_benchmarks_are_refused() -> None:
    with pytest.raises(VariantError, match="is for CC-OCR"):
        create_variant(base=base_dataset(), spec=BOTH, actor=None)


def test_a_board_on_it_has_table_7(researcher: User) -> None:
    """By hand: all normal images are read. Of the rotated ones p0 is read, p1 half, p2 and p3 not.
    So IC15 loses 1 - (1 + 2/3) / 2 = 1/6 and FUNSD all; the mean is 7/12."""
    base, release = reading_base()
    copied = both(release, base).releases.get()
    phase_wanted = NewPhase(slug="test", title="Test", release=copied, score_decimals=None)
    board = create_board(
        slug="reading", title="Reading", benchmark="ccocr", phase=phase_wanted, actor=None
    )
    set_board_state(board=board, state=Board.State.OPEN, actor=None, confirm_disclosure=True)
    read = {"p0": "Exit only", "p1": "Grand", "p2": "", "p3": ""}
    lines = []
    for item in copied.items.all():
        bare, _, degrees = item.gold["id"].partition("@")
        words = read[bare] if degrees else WORDS[bare]
        lines.append({"id": item.gold["id"], "subset": item.gold["subset"], "response": words})
    submission = send_lines(board, researcher, lines, name="Reader")
    run_due_jobs()
    entry = publish_submission(submission=submission, actor=None)
    figures = ("multi_scene", "multi_orientation", "diff")
    assert [entry.scores[key] for key in figures] == pytest.approx([1, 5 / 12, -7 / 12], abs=1e-6)
    table = leaderboard(board, first_phase(board), view="orientation")
    [row] = [row for section in table.sections for row in section.rows]
    assert row.entry.name == "Reader"


def test_rules_for_hidden_copies_know_the_kind() -> None:
    assert [key for key, each in CAPTURES.items() if each.keeps_normal] == [NORMAL_AND_ROTATED]
