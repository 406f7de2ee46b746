"""An invitation as its receiver sees it, and those to the site as organisers see them.

Also the form that invites people by their addresses, for all pages that do so.
"""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.validators import validate_email
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.accounts.access import UserRequest, organiser_required
from portal.accounts.emails import origin_of
from portal.accounts.models import Invitation

from .selectors import (
    PENDING,
    InvitationRefused,
    emails_are_sent,
    find_invitation,
    invitation_state,
    is_addressed_to,
    offer_of,
    site_rows,
    to_the_site,
)
from .services import (
    accept_invitation,
    invite_to_site,
    make_link,
    resend_invitation,
    revoke_invitation,
)

# A list this long was typed; a longer one was pasted by mistake, or is none of ours to write to.
MAX_ADDRESSES = 50
_EMAIL_CHARS = 254


def read_addresses(lines: list[str]) -> list[str]:
    """The addresses in lower case, each once; empty lines count for nothing.

    Raises ValidationError with one sentence per fault, lines counted from 1.
    """
    emails = [line.strip().lower() for line in lines]
    faults = [
        f"Line {number}: “{email[:80]}” is not an e-mail address."
        for number, email in enumerate(emails, start=1)
        if email and not _is_address(email)
    ]
    found = list(dict.fromkeys(email for email in emails if email))
    if not found:
        faults.append("Give at least one address.")
    if len(found) > MAX_ADDRESSES:
        faults.append(f"{len(found)} addresses are more than the {MAX_ADDRESSES} taken at once.")
    if faults:
        raise forms.ValidationError(faults)
    return found


def _is_address(text: str) -> bool:
    try:
        validate_email(text)
    except forms.ValidationError:
        return False
    return len(text) <= _EMAIL_CHARS


class AddressesField(forms.CharField):
    """E-mail addresses, one per line; a list in lower case, each once."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        kwargs = {"label": "E-mail addresses", "help_text": "One per line."} | kwargs
        super().__init__(max_length=20_000, strip=False, **kwargs)
        self.widget.attrs |= {"rows": 4, "autocomplete": "off", "spellcheck": "false"}

    def clean(self, value: Any) -> list[str]:
        return read_addresses(super().clean(value).splitlines())


class InviteForm(forms.Form):
    emails = AddressesField()


NO_EMAILS = (
    "This site sends no emails: it only prints or stores them. Make a link for each person in the "
    "list, and hand it over yourself."
)


def resent(invitation: Invitation) -> str:
    """What is said once an invitation was sent again."""
    return f"A new email goes to {invitation.email}." if emails_are_sent() else NO_EMAILS


def never_stored(response: HttpResponse) -> HttpResponse:
    """For a page that shows a secret."""
    add_never_cache_headers(response)
    return response


@never_cache
@require_safe
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """For whoever has the link; what to do depends on who is logged in."""
    found = find_invitation(secret)
    if found is None:
        return render(request, "accounts/invitations/unknown.html", status=404)
    state = invitation_state(found)
    user = request.user
    context = {
        "invitation": found,
        "state": state,
        "offer": offer_of(found),
        "secret": secret,
        "is_mine": user.is_authenticated and is_addressed_to(found, user),
        "was_me": user.is_authenticated and found.accepted_by_id == user.pk,
    }
    gone = state != PENDING and not context["was_me"]
    return render(
        request, "accounts/invitations/invitation.html", context, status=410 if gone else 200
    )


@require_POST
def accept(request: HttpRequest, secret: str) -> HttpResponse:
    found = find_invitation(secret)
    if found is None or not request.user.is_authenticated:
        # The invitation's page says what is wrong and what to do.
        return redirect("invitations:invitation", secret)
    try:
        offer = accept_invitation(invitation=found, user=request.user)
    except InvitationRefused as refusal:
        messages.error(request, refusal.message)
        return redirect("invitations:invitation", secret)
    messages.success(request, f"You are {offer.what} now.")
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
            messages.info(request, f"Invited or with an account already: {', '.join(known)}.")
        return redirect("invitations:list")
    return _page(request, form)


def _page(request: UserRequest, form: InviteForm, **more: str) -> HttpResponse:
    context = {"form": form, "invitations": site_rows(to_the_site())}
    return render(request, "accounts/invitations/invitations.html", context | more)


@organiser_required
@require_POST
def link(request: UserRequest, pk: int) -> HttpResponse:
    """Shows a link to copy, once: only its hash is kept."""
    found = get_object_or_404(to_the_site(), pk=pk)
    try:
        made = make_link(invitation=found, actor=request.user, origin=origin_of(request))
    except InvitationRefused as refusal:
        messages.error(request, refusal.message)
        return redirect("invitations:list")
    return never_stored(_page(request, InviteForm(), link=made, link_for=found.email))


@organiser_required
@require_POST
def resend(request: UserRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(to_the_site(), pk=pk)
    try:
        resend_invitation(invitation=found, actor=request.user, origin=origin_of(request))
    except InvitationRefused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, resent(found))
    return redirect("invitations:list")


@organiser_required
@require_POST
def revoke(request: UserRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(to_the_site(), pk=pk)
    try:
        revoke_invitation(invitation=found, actor=request.user)
    except InvitationRefused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"The invitation of {found.email} is withdrawn.")
    return redirect("invitations:list")
