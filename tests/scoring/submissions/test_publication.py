"""Publishing a result and taking it back; rows reported by papers."""

from dataclasses import replace

import pytest

from portal.accounts.models import User
from portal.audit.models import Event
from scoring.benchmarks import BENCHMARKS, ReportedRow
from scoring.leaderboard.selectors import leaderboard
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Category, Entry, Grading, Submission
from scoring.submissions.services import (
    PublicationRefused,
    publish_submission,
    unpublish_submission,
)
from tests.scoring.factories import first_phase, latest_grading, make_board

pytestmark = pytest.mark.django_db


def test_publishing_makes_an_entry_of_card_and_scores(graded: Submission, organiser: User) -> None:
    Submission.objects.filter(pk=graded.pk).update(size="7B", category=Category.OPEN_VLM)
    entry = publish_submission(submission=graded, actor=organiser)
    grading = latest_grading(graded)
    assert (entry.name, entry.size, entry.category) == ("Reader", "7B", Category.OPEN_VLM)
    assert entry.scores == grading.scores
    assert entry.signature == grading.signature
    assert entry.grading == grading
    graded.refresh_from_db()
    assert graded.publication == Submission.Publication.PUBLIC
    assert Event.objects.filter(verb="publish_submission", actor=organiser).count() == 1


def test_publishing_twice_changes_nothing(graded: Submission, organiser: User) -> None:
    first = publish_submission(submission=graded, actor=organiser)
    assert publish_submission(submission=graded, actor=organiser) == first
    assert Event.objects.filter(verb="publish_submission").count() == 1


def test_a_sample_submission_makes_a_sample_entry(graded: Submission, organiser: User) -> None:
    Submission.objects.filter(pk=graded.pk).update(is_sample=True)
    assert publish_submission(submission=graded, actor=organiser).is_sample


@pytest.mark.parametrize("state", [state for state in Grading.State if state != "done"])
def test_nothing_without_a_finished_grading_is_published(
    queued: Submission, organiser: User, state: Grading.State
) -> None:
    queued.gradings.update(state=state)
    with pytest.raises(PublicationRefused, match="Only graded submissions"):
        publish_submission(submission=queued, actor=organiser)
    assert not Entry.objects.exists()


def test_a_later_grading_replaces_the_entry_when_it_is_published(
    graded: Submission, organiser: User
) -> None:
    publish_submission(submission=graded, actor=organiser)
    later = latest_grading(graded)
    later.pk, later.signature = None, "fincriticaled|v2"
    later.save()
    assert Entry.objects.get().signature != "fincriticaled|v2"
    publish_submission(submission=graded, actor=organiser)
    assert Entry.objects.get().signature == "fincriticaled|v2"


def test_unpublishing_removes_the_entry_and_hides_the_summary(
    graded: Submission, organiser: User
) -> None:
    publish_submission(submission=graded, actor=organiser)
    unpublish_submission(submission=graded, actor=organiser)
    graded.refresh_from_db()
    assert not Entry.objects.exists()
    assert graded.publication == Submission.Publication.PRIVATE
    assert latest_grading(graded).state == Grading.State.DONE
    unpublish_submission(submission=graded, actor=organiser)
    assert Event.objects.filter(verb="unpublish_submission").count() == 1


# --- reported rows ----------------------------------------------------------------------------


def test_reported_rows_carry_provenance_and_unrounded_rates(board: Board) -> None:
    load_reported(board=board)
    entry = board.entries.get(name="GPT-5")
    assert entry.kind == Entry.Kind.REPORTED
    assert entry.category == Category.PROPRIETARY_VLM
    assert entry.scores["ffa"] == pytest.approx(0.9361)
    assert entry.provenance
    assert entry.provenance_url.startswith("https://")
    assert entry.grading is None


def test_loading_reported_rows_twice_changes_nothing(board: Board) -> None:
    first = [entry.pk for entry in load_reported(board=board)]
    assert [entry.pk for entry in load_reported(board=board)] == first
    assert Event.objects.filter(verb="load_reported").count() == 1


def row(name: str, **changes: object) -> ReportedRow:
    known = BENCHMARKS["fincriticaled"].reported[0]
    return replace(known, name=name, **changes)  # type: ignore[arg-type]


def test_reported_rows_follow_the_benchmark(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = BENCHMARKS["fincriticaled"]
    monkeypatch.setitem(
        BENCHMARKS, "fincriticaled", replace(spec, reported=(row("Kept"), row("Removed")))
    )
    kept = load_reported(board=board)[0]
    monkeypatch.setitem(
        BENCHMARKS, "fincriticaled", replace(spec, reported=(row("Kept", size="9B"),))
    )
    [entry] = load_reported(board=board)
    assert (entry.pk, entry.size) == (kept.pk, "9B")


def test_rows_over_other_fact_types_are_not_comparable_and_left_out(board: Board) -> None:
    names = {entry.name for entry in load_reported(board=board)}
    assert "GPT-5" in names
    assert "Gemini-2.5-Pro" not in names
    five_types = make_board(
        slug="five",
        options={"labels": "Number,Temporal,MonetaryUnit,ReportingEntity,FinancialConcept"},
    )
    load_reported(board=five_types)

    def names_in(view: str) -> set[str]:
        table = leaderboard(five_types, first_phase(five_types), view=view)
        return {row.entry.name for section in table.sections for row in section.rows}

    # The later release reports correct facts of those found, which is another figure than FFA.
    assert "Gemini-2.5-Pro" in names_in("found_facts")
    assert "Gemini-2.5-Pro" not in names_in("")
    assert "Llama-4-Scout-17B" not in names_in("")
    # The first version's two fact types have a table of their own.
    assert "Llama-4-Scout-17B" in names_in("first_version")


def test_graded_entries_are_left_alone(graded: Submission, organiser: User) -> None:
    entry = publish_submission(submission=graded, actor=organiser)
    load_reported(board=graded.phase.board)
    assert Entry.objects.filter(pk=entry.pk).exists()
