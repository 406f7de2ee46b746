"""The card of a board's benchmark, as a page."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page

from portal.home import docs as pages
from scoring.benchmarks import BENCHMARKS, UnknownBenchmarkError, benchmark_card
from scoring.models import Board
from tests.looks import faults_in_both_looks
from tests.scoring.factories import make_board

pytestmark = pytest.mark.django_db


def board_on(benchmark: str) -> Board:
    board = make_board()
    Board.objects.filter(pk=board.pk).update(benchmark=benchmark)
    board.phases.update(options={})
    return board


@pytest.mark.parametrize("key", sorted(BENCHMARKS))
def test_every_benchmark_has_its_card(client: Client, key: str) -> None:
    board = board_on(key)
    answer = client.get(reverse("scoring:board-benchmark", args=[board.slug]))
    page = answer.content.decode()
    assert answer.status_code == 200
    assert benchmark_card(key).splitlines()[0].removeprefix("# ") in page
    assert "<h2>Metrics</h2>" in page
    assert "<h2>Changes</h2>" in page
    # Every link to a file became one to a page of the documentation.
    assert "../" not in page


def test_the_board_links_to_its_card(client: Client) -> None:
    board = make_board()
    page = client.get(board.get_absolute_url()).content.decode()
    assert reverse("scoring:board-benchmark", args=[board.slug]) in page


def test_links_lead_to_documentation_that_exists(client: Client) -> None:
    board = board_on("receiptbench")
    page = client.get(reverse("scoring:board-benchmark", args=[board.slug])).content.decode()
    assert 'href="/docs/judge/#fields-of-receipts"' in page
    assert "fields-of-receipts" in pages.page("judge").anchors


def test_draft_boards_have_no_public_card(client: Client) -> None:
    board = make_board(state=Board.State.DRAFT)
    assert client.get(reverse("scoring:board-benchmark", args=[board.slug])).status_code == 404


def test_unknown_benchmark_has_no_card() -> None:
    with pytest.raises(UnknownBenchmarkError):
        benchmark_card("nowhere")


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("key", sorted(BENCHMARKS))
def test_cards_look_right_and_are_accessible(page_of: Callable[..., Page], key: str) -> None:
    board = board_on(key)
    page = page_of(None)
    page.goto(reverse("scoring:board-benchmark", args=[board.slug]))
    assert faults_in_both_looks(page, every=True) == []
