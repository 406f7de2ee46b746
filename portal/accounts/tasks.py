"""Jobs of accounts."""

from typing import Any

from django.urls import reverse
from django.utils import timezone

from portal.accounts.invitations.selectors import InvitationRefused, offer_of
from portal.accounts.invitations.services import mint_secret
from portal.jobs.handlers import Claim, handler
from portal.jobs.services import enqueue

from .account_data import DROP_KIND, ERASE_KIND, KEPT_FOR, KIND, drop_file, erase_rest, store_export
from .emails import send_email
from .models import AccountExport, Invitation, User, display_name, is_former


@handler("send_invitation")
def send_invitation(claim: Claim) -> None:
    """Create the link and email it. After a crash it is sent again, and the newer link works."""
    invitation = Invitation.objects.select_related("invited_by").get(pk=claim.payload["invitation"])
    try:
        secret = mint_secret(invitation)
    except InvitationRefused:
        return
    offer, origin = offer_of(invitation), claim.payload["origin"]
    inviter = display_name(invitation.invited_by) if invitation.invited_by else "A former member"
    send_email(
        to=invitation.email,
        subject=f"{inviter} invited you to become {offer.what}",
        template="accounts/invitations/emails/invitation.txt",
        origin=origin,
        context={
            "inviter": inviter,
            "offer": offer,
            "email": invitation.email,
            "link": origin + reverse("invitations:invitation", args=[secret]),
            "until": invitation.expires_at,
        },
    )


def _export_failed(payload: dict[str, Any], _error: str) -> None:
    AccountExport.objects.filter(pk=payload["export"]).update(state=AccountExport.State.FAILED)


@handler(KIND, on_failed=_export_failed)
def export_account(claim: Claim) -> None:
    """Create the export file. After a crash the new file replaces the old one."""
    exports = AccountExport.objects.filter(pk=claim.payload["export"])
    export = exports.select_related("user").first()
    if export is None or is_former(export.user):
        return
    size = store_export(export)
    ready = {"state": AccountExport.State.READY, "size": size}
    with claim.finish():
        expires_at = timezone.now() + KEPT_FOR
        kept = exports.update(**ready, expires_at=expires_at)
        enqueue(
            kind=DROP_KIND,
            payload={"export": export.pk},
            group=export.job_group,
            not_before=expires_at,
        )
    if not kept:  # the account was deleted meanwhile
        drop_file(export.path)


@handler(DROP_KIND)
def drop_account_export(claim: Claim) -> None:
    export = AccountExport.objects.filter(pk=claim.payload["export"]).first()
    if export is None:
        return
    drop_file(export.path)
    with claim.finish():
        export.delete()


@handler(ERASE_KIND)
def erase_account(claim: Claim) -> None:
    user = User.objects.filter(pk=claim.payload["user"]).first()
    if user is not None:
        erase_rest(user)
