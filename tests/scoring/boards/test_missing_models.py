"""Phases whose options need a model that is not set up here, or say more in words."""

import json
from dataclasses import replace
from typing import Any

import pytest

from portal.accounts.models import User
from scoring.benchmarks import BENCHMARKS, Options
from scoring.models import Board, Phase, Submission
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import first_phase, make_submission

from .test_phases import form_of

pytestmark = pytest.mark.django_db
RULES = "/boards/board/benchmark/"

FAULT = "option text: markup is not set up here"
SHOWN = "Option text: markup is not set up here."
MARKUP = json.dumps({"text": "markup"})


def lacking(options: Options) -> str:
    return FAULT if options["text"] == "markup" else ""


def words(options: Options) -> tuple[str, ...]:
    return (f"Text: <b>{options['text']}</b>.",)


@pytest.fixture(autouse=True)
def poor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A benchmark that lacks something for one value of an option."""
    spec = BENCHMARKS["fincriticaled"]
    monkeypatch.setitem(BENCHMARKS, spec.key, replace(spec, lacking=lacking, words=words))


def set_options(phase: Phase, **options: str | None) -> None:
    """As another version of the site, or one with the model, has stored them."""
    changed = phase.options | options
    phase.options = {name: value for name, value in changed.items() if value is not None}
    phase.save(update_fields=["options"])


def changed(board: Board, **sent: Any) -> dict[str, Any]:
    stored = json.dumps(first_phase(board).options)
    return form_of(board, **{"title": "Renamed", "options": stored, **sent})


def test_a_phase_that_nobody_could_grade_is_not_opened(
    client_of: ClientOf, api_of: ApiOf, board: Board, organiser: User
) -> None:
    sent = form_of(board, options=MARKUP)
    page = client_of(organiser).post("/boards/board/phases/new/", sent)
    assert page.context["form"].errors == {"options": [SHOWN]}
    by_api = {"title": "More", "release": "1.0.0", "options": {"text": "markup"}}
    by_api["dataset"] = first_phase(board).release.dataset.slug
    answer = api_of(organiser).post("/api/v1/boards/board/phases/", by_api, format="json")
    assert (answer.status_code, "Option text" in answer.content.decode()) == (400, True)
    assert board.phases.count() == 1


def test_a_phase_can_be_read_and_changed_when_its_model_is_gone(
    client_of: ClientOf, api_of: ApiOf, board: Board, organiser: User
) -> None:
    set_options(first_phase(board), text="markup")
    client = client_of(organiser)
    assert "Text: &lt;b&gt;markup&lt;/b&gt;." in client.get(RULES).content.decode()
    assert client.post("/boards/board/phases/test/", changed(board)).status_code == 302
    assert first_phase(board).title == "Renamed"
    url = "/api/v1/boards/board/phases/test/"
    assert api_of(organiser).patch(url, {"title": "Again"}, format="json").status_code == 200
    # Another phase cannot begin to need it.
    set_options(first_phase(board), text="visible")
    page = client.post("/boards/board/phases/test/", changed(board, options=MARKUP))
    assert page.context["form"].errors == {"options": [SHOWN]}


def test_what_the_options_mean_stands_with_the_result(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    page = client_of(researcher).get(f"/submissions/{graded.pk}/").content.decode()
    assert "Text: &lt;b&gt;visible&lt;/b&gt;." in page


def test_an_option_of_a_later_version_does_not_lock_a_phase(
    client_of: ClientOf, board: Board, organiser: User, researcher: User
) -> None:
    phase = first_phase(board)
    assert phase.options["beside"] == ""
    set_options(phase, beside=None)
    make_submission(board, researcher)
    before = first_phase(board).options
    client = client_of(organiser)
    # Disabled in the form, they come back as they are stored.
    assert client.post("/boards/board/phases/test/", changed(board)).status_code == 302
    assert (first_phase(board).title, first_phase(board).options) == ("Renamed", before)
