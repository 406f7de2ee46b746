"""What a campaign waits for, and who has to do it."""

from dataclasses import dataclass

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
        steps = _labelling_steps(standing, overview, user) + _deciding_steps(standing, overview)
    return sorted(steps, key=lambda step: not step.is_mine)


def _draft_steps(standing: Standing, overview: Overview) -> list[Step]:
    campaign, mine = standing.campaign, standing.may_manage
    steps = []
    lacking = campaign.overlap - len(overview.annotators)
    if not overview.new_documents:
        text = f"Import documents into “{campaign.dataset.title}”."
        steps.append(Step("organiser", text, standing.is_organiser))
    if lacking > 0:
        text = f"Add {_count(lacking, 'annotator')}: every document needs {campaign.overlap}."
        steps.append(Step("lead or organiser", text, mine, *_page("People", campaign)))
    if not steps:
        text = (
            f"Open the campaign: {_count(overview.new_documents, 'document')} will be shared out "
            f"among {_count(len(overview.annotators), 'annotator')}."
        )
        steps.append(Step("lead or organiser", text, mine))
    return steps


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
    return steps


def _deciding_steps(standing: Standing, overview: Overview) -> list[Step]:
    stages = overview.stages
    steps = []
    if overview.open_cases:
        text = (
            f"Decide {_count(overview.open_cases, 'case')} "
            f"in {_count(stages.adjudication, 'document')}."
        )
        steps.append(
            Step("lead", text, standing.is_lead, *_page("Adjudication", standing.campaign))
        )
    if stages.total and stages.gold == stages.total:
        text = f"All {_count(stages.total, 'document')} are gold: freeze a release."
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
