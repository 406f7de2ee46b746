"""The jobs of accounts."""

from django.urls import reverse

from portal.jobs.handlers import Claim, handler

from .inviting import mint_secret
from .letters import send_letter
from .models import Invitation, display_name
from .offers import InvitationRefused, offer_of


@handler("send_invitation")
def send_invitation(claim: Claim) -> None:
    """Makes the link and sends it. Sent again after a crash, the newer letter's link works."""
    invitation = Invitation.objects.select_related("invited_by").get(pk=claim.payload["invitation"])
    try:
        secret = mint_secret(invitation)
    except InvitationRefused:
        return
    offer, origin = offer_of(invitation), claim.payload["origin"]
    inviter = display_name(invitation.invited_by) if invitation.invited_by else "Somebody"
    send_letter(
        to=invitation.email,
        subject=f"{inviter} invites you to be {offer.what}",
        template="accounts/letters/invitation.txt",
        origin=origin,
        context={
            "inviter": inviter,
            "offer": offer,
            "email": invitation.email,
            "link": origin + reverse("invitations:invitation", args=[secret]),
            "until": invitation.expires_at,
        },
    )
