"""A variant's board compared with that of the normal capture."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from portal.accounts.models import User
from portal.datasets.models import Dataset, Release
from scoring.boards.page import leaderboard_page
from scoring.models import Board
from tests.datasets.factories import make_release
from tests.datasets.variants.factories import OFF_AXIS, base_dataset, derived
from tests.fixture_types import ClientOf
from tests.scoring.factories import make_board, make_entry, make_submission

pytestmark = pytest.mark.django_db


def boards(names: list[str] | None = None) -> tuple[Board, Board]:
    """Make a board on a dataset and one on its variant with the same gold, or the named part of
    it."""
    base = base_dataset()
    release = make_release(base)
    variant = derived(base, replace(OFF_AXIS, names=names, release=release))
    Dataset.objects.filter(pk=variant.pk).update(visibility="public")
    carried = Release.objects.get(dataset=variant)
    return make_board(release, slug="normal"), make_board(carried, slug="variant")


def relative(user: User, board: Board) -> Any:
    return leaderboard_page(user, board, phase="", sort="").relative


def test_figures_are_differences_and_ratios(researcher: User) -> None:
    normal, variant = boards()
    make_entry(normal, researcher, name="Reader", ffa=0.8, edit_distance=0.1)
    make_entry(variant, researcher, name="reader", ffa=0.6, edit_distance=0.25)
    make_entry(variant, researcher, name="Newcomer", ffa=0.5)
    found = relative(researcher, variant)
    ((entry, losses),) = found.rows
    figures = dict(zip([column.key for column in found.columns], losses, strict=True))
    assert entry.name == "reader"
    assert (figures["ffa"].difference, figures["ffa"].ratio) == ("−20.00", "0.75")
    assert figures["edit_distance"].difference == "+15.00"
    assert (figures["rl"].difference, figures["rl"].ratio) == ("0.00", "1.00")
    assert found.simulation == "off-axis viewpoint 0.5"
    assert "Base 1.0.0" in found.normal


def test_nothing_to_compare_shows_nothing(researcher: User, client_of: ClientOf) -> None:
    normal, variant = boards()
    make_entry(variant, researcher)
    assert relative(researcher, variant) is None
    make_entry(normal, researcher)
    assert relative(researcher, variant) is not None
    assert relative(researcher, normal) is None
    assert "view=robustness" in client_of(None).get("/boards/variant/").content.decode()
    page = client_of(None).get("/boards/variant/?view=robustness").content.decode()
    assert "Relative to the normal capture" in page
    assert "simulated: off-axis viewpoint 0.5" in page
    assert "view=robustness" not in client_of(None).get("/boards/normal/").content.decode()


def test_drafts_and_other_items_are_not_compared(researcher: User, organiser: User) -> None:
    normal, variant = boards()
    make_entry(normal, researcher)
    make_entry(variant, researcher)
    Board.objects.filter(pk=normal.pk).update(state=Board.State.DRAFT)
    assert relative(researcher, variant) is None
    assert relative(organiser, variant) is not None


def test_part_of_the_pages_is_not_compared_with_all(researcher: User) -> None:
    normal, variant = boards(names=["p0"])
    make_entry(normal, researcher)
    make_entry(variant, researcher)
    assert relative(researcher, variant) is None


def test_another_signature_or_organisation_is_another_system(researcher: User) -> None:
    normal, variant = boards()
    entry = make_entry(normal, researcher)
    make_entry(variant, researcher)
    type(entry).objects.filter(pk=entry.pk).update(signature="older")
    assert relative(researcher, variant) is None
    type(entry).objects.filter(pk=entry.pk).update(signature=entry.signature, organisation="X")
    assert relative(researcher, variant) is None


def test_queries_do_not_grow(researcher: User, django_assert_num_queries: Any) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    normal, variant = boards()

    def add(number: int) -> None:
        for board in (normal, variant):
            make_entry(board, researcher, name=f"Reader {number}")

    add(0)
    with CaptureQueriesContext(connection) as asked:
        relative(researcher, variant)
    for number in range(1, 6):
        add(number)
    with django_assert_num_queries(len(asked)):
        assert len(relative(researcher, variant).rows) == 6


def test_diagnostics_lead_to_the_dispute_of_a_fact(
    researcher: User, client_of: ClientOf, run_jobs: Callable[[], int]
) -> None:
    normal, variant = boards()
    pages = {name: f"<p>Sales 1,200 of page {name[1]}</p>" for name in ("p0", "p1", "p2")}
    client = client_of(researcher)
    for board, links in ((normal, True), (variant, False)):
        submission = make_submission(board, researcher, pages)
        run_jobs()
        page = client.get(f"/submissions/{submission.pk}/items/p0/").content.decode()
        assert ("Dispute this fact" in page) is links
    assert "/datasets/base/releases/1.0.0/items/p0/dispute/" not in page
