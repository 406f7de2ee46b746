"""Experts' opinions of a judge's decisions and reasoning, after their own review."""

import pytest

from portal.accounts.models import User
from scoring.judging.services import JudgingRefused
from scoring.models import JudgeSample, Submission
from scoring.reliability.cases import add_expert, save_opinion
from scoring.reliability.selectors import reliability
from tests.fixture_types import ClientOf
from tests.scoring.reliability.test_judging import (
    case_of,
    judged,
    review,
)

pytestmark = pytest.mark.django_db

ALL = {"page-1": {0: True, 1: False, 2: True}, "page-2": {0: True, 1: True}, "page-3": {0: True}}


def version_of(sample: JudgeSample) -> str:
    return reliability(sample).judge


def test_an_opinion_needs_a_review_of_ones_own_and_a_verdict(
    sample: JudgeSample,
    published: Submission,
    stranger: User,
) -> None:
    case = case_of(sample, "page-3")
    said = {"case": case, "expert": stranger, "decision": True, "reasoning": True}
    with pytest.raises(JudgingRefused, match="Submit your review"):
        save_opinion(version="m", **said)  # type: ignore[arg-type]
    review(case, stranger, ALL["page-3"])
    with pytest.raises(JudgingRefused, match="has not judged this page"):
        save_opinion(version="m", **said)  # type: ignore[arg-type]
    assert reliability(sample).reasoning is None
    judged(published, ALL, "m")
    found = reliability(sample).reasoning
    assert found is not None
    assert (found.opinions, found.decision) == (0, None)


def test_shares_and_agreement_by_hand(
    sample: JudgeSample,
    published: Submission,
    stranger: User,
    organiser: User,
    client_of: ClientOf,
) -> None:
    """Four opinions on two pages: decisions right 3 of 4, reasoning 2 of 4, both 2 of 4. On page 2
    the two experts agree about the reasoning, on page 3 they do not."""
    judged(published, ALL, "m")
    add_expert(board=sample.phase.board, user=organiser, actor=None)
    version = version_of(sample)
    opinions = [
        ("page-2", stranger, True, True),
        ("page-2", organiser, True, True),
        ("page-3", stranger, True, False),
        ("page-3", organiser, False, True),
    ]
    for name, expert, decision, reasoning in opinions:
        case = case_of(sample, name)
        review(case, expert, ALL[name])
        save_opinion(
            case=case,
            expert=expert,
            version=version_of(sample),
            decision=decision,
            reasoning=reasoning and decision,
        )
    found = reliability(sample, version).reasoning
    assert found is not None
    assert (found.opinions, found.pages) == (4, 2)
    assert (found.decision, found.reasoning, found.both) == (0.75, 0.5, 0.5)
    assert (found.experts.both_right, found.experts.both_wrong) == (1, 1)
    # A changed opinion replaces the earlier one.
    save_opinion(
        case=case_of(sample, "page-3"),
        expert=stranger,
        version=version_of(sample),
        decision=True,
        reasoning=True,
    )
    again = reliability(sample).reasoning
    assert again is not None
    assert (again.opinions, again.reasoning, again.experts.agreement) == (4, 0.75, 0.5)
    page = client_of(None).get("/boards/board/judge/").content.decode()
    assert "section 3.2.5" in page
    answer = client_of(None).get("/api/v1/boards/board/judge/").json()["reliability"]["reasoning"]
    assert (answer["opinions"], answer["decision"]) == (4, 0.75)
    assert answer["experts"]["agreement"] == 0.5


def test_experts_give_it_on_the_page_and_others_cannot(
    sample: JudgeSample,
    published: Submission,
    stranger: User,
    researcher: User,
    client_of: ClientOf,
) -> None:
    judged(published, ALL, "m")
    case = case_of(sample, "page-2")
    path = f"/boards/board/judge/cases/{case.pk}/"
    data = {"decision": "right", "reasoning": "wrong", "comment": "ignores the <b>sign</b>"}
    assert client_of(stranger).post(f"{path}opinion/", data).status_code == 404
    review(case, stranger, ALL["page-2"])
    data["version"] = version_of(sample)
    page = client_of(stranger).get(path).content.decode()
    assert "Save rating" in page
    assert client_of(researcher).post(f"{path}opinion/", data).status_code == 403
    client_of(stranger).post(f"{path}opinion/", {**data, "reasoning": ""})
    assert reliability(sample).reasoning.opinions == 0  # type: ignore[union-attr]
    assert client_of(stranger).post(f"{path}opinion/", data).status_code == 302
    page = client_of(stranger).get(path).content.decode()
    assert "ignores the &lt;b&gt;sign&lt;/b&gt;" in page
    assert reliability(sample).reasoning.reasoning == 0  # type: ignore[union-attr]
