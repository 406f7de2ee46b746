"""Jobs of annotation."""

from functools import partial
from typing import Any

from django.urls import reverse

from annotation.campaigns.people import role_in_words
from annotation.campaigns.waiting import person_waiting
from annotation.exchange.services import fail_import, keep_import, read_import
from annotation.workbench.suggestions import fail_suggestions, keep_suggestions, read_suggestions
from portal.accounts.emails import send_email
from portal.accounts.models import User, display_name
from portal.files.archives import ArchiveFault
from portal.jobs.handlers import Claim, handler

from .errors import Refused
from .models import CampaignImport, Membership, Reminder, SuggestionUpload

CANCELLED = "it was cancelled"


def _failed(payload: dict[str, Any], error: str) -> None:
    upload = SuggestionUpload.objects.get(pk=payload["upload"])
    fail_suggestions(upload=upload, error=error)


@handler("place_suggestions", on_failed=_failed, on_cancelled=partial(_failed, error=CANCELLED))
def place_suggestions(claim: Claim) -> None:
    """Reads an uploaded file and stores its suggestions, all or none."""
    upload = SuggestionUpload.objects.select_related("campaign").get(pk=claim.payload["upload"])
    if upload.is_finished:
        return
    SuggestionUpload.objects.filter(pk=upload.pk).update(state=SuggestionUpload.State.RUNNING)
    try:
        placed, faults = read_suggestions(upload, progress=claim.progress)
    except ArchiveFault as fault:
        with claim.finish():
            fail_suggestions(upload=upload, error=str(fault))
        return
    with claim.finish():
        keep_suggestions(upload=upload, placed=placed, faults=faults)


@handler("email_new_member")
def email_new_member(claim: Claim) -> None:
    """Emails a user who was given a role."""
    members = Membership.objects.select_related("campaign", "user")
    membership = members.filter(pk=claim.payload["membership"]).first()
    if membership is None:
        return
    what = role_in_words(membership.role, membership.campaign)
    actor = display_name(User.objects.get(pk=claim.payload["actor"]))
    _email(claim, membership, f"You are {what}", "new_member.txt", actor=actor, what=what)


def _email(
    claim: Claim, about: Membership | Reminder, subject: str, template: str, **context: Any
) -> None:
    """Sends an email about a campaign to a member."""
    origin = claim.payload["origin"]
    links = {
        "campaign_link": origin + about.campaign.get_absolute_url(),
        "leave_link": origin + reverse("annotation:leave", args=[about.campaign.slug]),
    }
    send_email(
        to=about.user.email,
        subject=subject,
        template=f"annotation/campaigns/emails/{template}",
        origin=origin,
        context={"name": display_name(about.user), **links, **context},
    )


@handler("send_reminder")
def send_reminder(claim: Claim) -> None:
    """Emails a user their open tasks. Sends nothing if there are none left."""
    reminders = Reminder.objects.select_related("campaign", "user", "sent_by")
    reminder = reminders.get(pk=claim.payload["reminder"])
    person = person_waiting(reminder.campaign, reminder.user_id)
    if person is None or not person.work:
        return
    _email(
        claim,
        reminder,
        f"Open tasks: {', '.join(work.words for work in person.work)}",
        "reminder.txt",
        sender=display_name(reminder.sent_by) if reminder.sent_by else "",
        campaign=reminder.campaign,
        person=person,
    )


def _import_failed(payload: dict[str, Any], error: str) -> None:
    fail_import(campaign_import=CampaignImport.objects.get(pk=payload["import"]), error=error)


@handler(
    "import_labels", on_failed=_import_failed, on_cancelled=partial(_import_failed, error=CANCELLED)
)
def import_labels(claim: Claim) -> None:
    """Imports a file with labels or a whole campaign, in one transaction."""
    rows = CampaignImport.objects.select_related("campaign", "annotator", "created_by")
    found = rows.get(pk=claim.payload["import"])
    if found.is_finished:
        return
    CampaignImport.objects.filter(pk=found.pk).update(state=CampaignImport.State.RUNNING)
    try:
        with found.upload.open("rb") as file:
            size = found.upload.size

            def progress(_done: int) -> None:
                claim.progress(min(file.tell(), size), size)

            content = read_import(found, file, progress=progress)
        with claim.finish():
            keep_import(
                campaign_import=found,
                content=content,
                # Jobs of earlier versions do not have it.
                accept_unplaced=claim.payload.get("accept_unplaced", 0),
            )
    except (ArchiveFault, Refused) as fault:
        with claim.finish():
            fail_import(campaign_import=found, error=str(fault))
