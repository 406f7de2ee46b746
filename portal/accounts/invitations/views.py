"""The recipient's invitation page, and the organisers' page of site invitations.

Also the form that invites by email address, shared by other pages.
"""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.validators import validate_email
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from portal.accounts.access import UserRequest, organiser_required
from portal.accounts.emails import origin_of
from portal.accounts.models import Invitation
from portal.web.refusals import post_action

from .selectors import (
    PENDING,
    emails_are_sent,
    find_invitation,
    invitation_state,
    is_addressed_to,
    offer_of,
    to_the_site,
    unanswered_rows,
)
from .services import (
    accept_invitation,
    invite_to_site,
    make_link,
    resend_invitation,
    revoke_invitation,
)

# Longer lists are probably pasted by mistake or unsolicited mail.
MAX_EMAILS = 50
_EMAIL_CHARS = 254


def read_emails(lines: list[str]) -> list[str]:
    """Return the distinct email addresses in lower case, skipping empty lines.

    Raises ValidationError with one sentence per error; lines count from 1.
    """
    emails = [line.strip().lower() for line in lines]
    faults = [
        f"Line {number}: “{email[:80]}” is not an email address."
        for number, email in enumerate(emails, start=1)
        if email and not _is_email(email)
    ]
    distinct = list(dict.fromkeys(email for email in emails if email))
    if not distinct:
        faults.append("Enter at least one email address.")
    if len(distinct) > MAX_EMAILS:
        faults.append(f"You can invite at most {MAX_EMAILS} people at once, not {len(distinct)}.")
    if faults:
        raise forms.ValidationError(faults)
    return distinct


def _is_email(text: str) -> bool:
    try:
        validate_email(text)
    except forms.ValidationError:
        return False
    return len(text) <= _EMAIL_CHARS


class EmailsField(forms.CharField):
    """Email addresses, one per line, cleaned to a list without duplicates, in lower case."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        kwargs = {"label": "Email addresses", "help_text": "One per line."} | kwargs
        super().__init__(max_length=20_000, strip=False, **kwargs)
        self.widget.attrs |= {"rows": 4, "autocomplete": "off", "spellcheck": "false"}

    def clean(self, value: Any) -> list[str]:
        return read_emails(super().clean(value).splitlines())


class InviteForm(forms.Form):
    emails = EmailsField()


NO_EMAILS = (
    "This site does not send email. For each invitation in the list, create a link and send it "
    "yourself."
)


def resent(invitation: Invitation) -> str:
    """The message shown after an invitation is sent again."""
    return f"A new email to {invitation.email} is being sent." if emails_are_sent() else NO_EMAILS


def never_stored(response: HttpResponse) -> HttpResponse:
    """Disable caching of a page that shows a secret."""
    add_never_cache_headers(response)
    return response


@never_cache
@require_safe
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Anyone with the link sees the invitation; accepting it depends on who is logged in."""
    invitation = find_invitation(secret)
    if invitation is None:
        return render(request, "accounts/invitations/unknown.html", status=404)
    state = invitation_state(invitation)
    user = request.user
    context = {
        "invitation": invitation,
        "state": state,
        "offer": offer_of(invitation),
        "secret": secret,
        "is_mine": user.is_authenticated and is_addressed_to(invitation, user),
        "was_me": user.is_authenticated and invitation.accepted_by_id == user.pk,
    }
    gone = state != PENDING and not context["was_me"]
    return render(
        request, "accounts/invitations/invitation.html", context, status=410 if gone else 200
    )


@post_action("invitations:invitation", "secret")
def accept(request: HttpRequest, secret: str) -> str | HttpResponse:
    invitation = find_invitation(secret)
    if invitation is None or not request.user.is_authenticated:
        # The invitation page explains the problem.
        return ""
    offer = accept_invitation(invitation=invitation, user=request.user)
    messages.success(request, f"You are now {offer.what}.")
    return redirect(offer.url)


@organiser_required
@require_http_methods(["GET", "HEAD", "POST"])
def invitations(request: UserRequest) -> HttpResponse:
    form = InviteForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        invited, known = invite_to_site(
            emails=form.cleaned_data["emails"], actor=request.user, origin=origin_of(request)
        )
        if invited:
            messages.success(request, f"Invited: {', '.join(invited)}.")
            if not emails_are_sent():
                messages.warning(request, NO_EMAILS)
        if known:
            messages.info(request, f"Already invited or registered: {', '.join(known)}.")
        return redirect("invitations:list")
    return _page(request, form)


def _page(request: UserRequest, form: InviteForm, **more: str) -> HttpResponse:
    context = {"form": form, "invitations": unanswered_rows(to_the_site(), "invitations")}
    return render(request, "accounts/invitations/invitations.html", context | more)


_list_action = post_action("invitations:list")


@organiser_required
@_list_action
def link(request: UserRequest, pk: int) -> HttpResponse:
    """Show a link to copy. It cannot be shown again, because only its hash is stored."""
    invitation = get_object_or_404(to_the_site(), pk=pk)
    made = make_link(invitation=invitation, actor=request.user, origin=origin_of(request))
    return never_stored(_page(request, InviteForm(), link=made, link_for=invitation.email))


@organiser_required
@_list_action
def resend(request: UserRequest, pk: int) -> str:
    invitation = get_object_or_404(to_the_site(), pk=pk)
    resend_invitation(invitation=invitation, actor=request.user, origin=origin_of(request))
    return resent(invitation)


@organiser_required
@_list_action
def revoke(request: UserRequest, pk: int) -> str:
    invitation = get_object_or_404(to_the_site(), pk=pk)
    revoke_invitation(invitation=invitation, actor=request.user)
    return f"Invitation for {invitation.email} withdrawn."
