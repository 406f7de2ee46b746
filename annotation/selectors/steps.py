"""What a campaign waits for, and who has to do it."""

from dataclasses import asdict, dataclass

from django.urls import reverse

from annotation.access import Standing
from annotation.models import Campaign

from .campaigns import Overview


@dataclass(frozen=True)
class Step:
    """What should happen next, who does it, and whether that is the reader."""

    who: str
    text: str
    is_mine: bool
    action: str = ""
    url: str = ""


def next_steps(standing: Standing, overview: Overview, user: int) -> list[Step]:
    """The steps in the order of the workflow, those of the reader (primary key `user`) first."""
    campaign = standing.campaign
    if campaign.state == Campaign.State.DRAFT:
        steps = _draft_steps(standing, overview)
    else:
        steps = [
            *_screening_steps(standing, overview),
            *_labelling_steps(standing, overview, user),
            *_deciding_steps(standing, overview),
        ]
    return sorted(steps, key=lambda step: not step.is_mine)


def _draft_steps(standing: Standing, overview: Overview) -> list[Step]:
    campaign, mine = standing.campaign, standing.may_manage
    steps = []
    documents = overview.new_documents + overview.stages.total
    lacking = campaign.overlap - len(overview.annotators)
    if not documents:
        text = f"Import documents into “{campaign.dataset.title}”."
        steps.append(Step("organiser", text, standing.is_organiser))
    if lacking > 0:
        text = f"Add {_count(lacking, 'annotator')}: every document needs {campaign.overlap}."
        steps.append(Step("lead or organiser", text, mine, *_page("People", campaign)))
    if not steps:
        text = f"Open the campaign: {_count(documents, 'document')} will be "
        text += "screened first, then " if campaign.screening else ""
        text += f"shared out among {_count(len(overview.annotators), 'annotator')}."
        steps.append(Step("lead or organiser", text, mine))
    return steps


def _screening_steps(standing: Standing, overview: Overview) -> list[Step]:
    campaign, waiting = standing.campaign, overview.stages.screening
    if campaign.state != Campaign.State.OPEN or not waiting:
        return []
    text = f"Screen {_count(waiting, 'page')}: annotators get those that are intact."
    return [Step("anybody", text, bool(standing.roles), *_page("Screening", campaign))]


def _labelling_steps(standing: Standing, overview: Overview, user: int) -> list[Step]:
    if standing.campaign.state != Campaign.State.OPEN:
        return []
    steps = []
    others = [person for person in overview.annotators if person.left and person.user != user]
    mine = sum(person.left for person in overview.annotators if person.user == user)
    if mine:
        text = f"Label {_count(mine, 'document')}."
        steps.append(
            Step("annotator", text, standing.is_annotator, "My tasks", reverse("annotation:tasks"))
        )
    if others:
        left = ", ".join(f"{person.name} {person.left}" for person in others)
        steps.append(Step("annotators", f"Still to submit: {left}.", is_mine=False))
    if overview.new_documents:
        text = f"Share out {_count(overview.new_documents, 'document')} added to the dataset later."
        steps.append(Step("lead or organiser", text, standing.may_manage))
    if overview.unassigned:
        text = f"Share out {_count(overview.unassigned, 'document')} that nobody has yet."
        steps.append(Step("lead or organiser", text, standing.may_manage))
    return steps


def _deciding_steps(standing: Standing, overview: Overview) -> list[Step]:
    stages = overview.stages
    steps = []
    if stages.validation:
        text = f"Look at {_count(stages.validation, 'document')} that failed validation."
        steps.append(Step("lead", text, standing.is_lead, *_page("Validation", standing.campaign)))
    if overview.open_cases:
        text = (
            f"Decide {_count(overview.open_cases, 'case')} "
            f"in {_count(stages.adjudication, 'document')}."
        )
        steps.append(
            Step("lead", text, standing.is_lead, *_page("Adjudication", standing.campaign))
        )
    if overview.review_items:
        text = f"Review {_count(overview.review_items, 'fact')} drawn from the gold."
        steps.append(
            Step("reviewer", text, standing.is_reviewer, *_page("Review", standing.campaign))
        )
    all_gold = bool(stages.total) and stages.gold == stages.total
    if all_gold and overview.unreleased and not overview.review_items:
        text = f"All {_count(stages.total, 'document')} are gold: freeze a release."
        if overview.unreleased < stages.gold:
            text = f"{_count(overview.unreleased, 'gold document')} in no release yet: freeze one."
        steps.append(
            Step(
                "lead or organiser", text, standing.may_manage, *_page("Release", standing.campaign)
            )
        )
    return steps


def _page(name: str, campaign: Campaign) -> tuple[str, str]:
    """A page of the campaign: what the button to it says, and its address."""
    return name, reverse(f"annotation:{name.lower()}", args=[campaign.slug])


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")


@dataclass(frozen=True)
class StageLine:
    """A stage with its documents and what they wait for; `url` only for who can do it.

    `x` and `width` are its part of the bar over all stages, in percent.
    """

    stage: str
    count: int
    waits_for: str
    url: str
    x: float
    width: float


def stage_lines(standing: Standing, overview: Overview) -> list[StageLine]:
    """The stages in the order of the workflow; screening only where there is any."""
    stages = overview.stages
    counts = asdict(stages)
    shown = [name for name in counts if counts[name] or name in _ALWAYS]
    if standing.campaign.screening and "screening" not in shown:
        shown.insert(0, "screening")
    total, x = sum(counts.values()) or 1, 0.0
    lines = []
    for name in shown:
        waits_for, url = _waits_for(name, standing, overview)
        width = 100 * counts[name] / total
        lines.append(StageLine(name, counts[name], waits_for, url, x, width))
        x += width
    return lines


_ALWAYS = ("annotation", "adjudication", "gold")


def _waits_for(stage: str, standing: Standing, overview: Overview) -> tuple[str, str]:
    cases = _count(overview.open_cases, "case")
    waits_for, page, may = {
        "screening": ("a verdict: intact or faulty", "screening", True),
        "annotation": ("annotators to submit", "assignments", standing.may_manage),
        "validation": ("a lead to look at faults", "validation", standing.is_lead),
        "adjudication": (f"a lead to decide {cases}", "adjudication", standing.is_lead),
        "gold": (_gold_waits_for(overview), "release", standing.may_manage),
        "excluded": ("nothing: left out", "screening", True),
    }[stage]
    if stage == "annotation" and overview.unassigned:
        waits_for = f"annotators to submit; {overview.unassigned} to be shared out"
    url = reverse(f"annotation:{page}", args=[standing.campaign.slug]) if may else ""
    return waits_for, f"{url}?state=excluded" if stage == "excluded" else url


def _gold_waits_for(overview: Overview) -> str:
    is_released = overview.stages.gold and not overview.unreleased
    return "nothing: released" if is_released else "a release"
