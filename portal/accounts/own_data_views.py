"""The pages on which people take their data along, log out everywhere and delete their account."""

from allauth.core import ratelimit
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from .access import UserRequest
from .account_data import AccountKept, fate_of
from .deleting import delete_account
from .exporting import ExportRefused, request_export
from .models import AccountExport
from .own_data_forms import DeleteAccountForm
from .session_ending import end_sessions


@login_required
@require_POST
def end_others(request: UserRequest) -> HttpResponse:
    ended = end_sessions(request.user, keep=request.session.session_key)
    if ended:
        messages.success(request, f"Logged out in {ended} other browser{'s' if ended > 1 else ''}.")
    else:
        messages.info(request, "You are logged in here and nowhere else.")
    return redirect("accounts:account")


@login_required
@require_POST
def order_export(request: UserRequest) -> HttpResponse:
    try:
        request_export(user=request.user)
    except ExportRefused as refusal:
        messages.error(request, str(refusal))
    return redirect("accounts:exports")


@never_cache
@login_required
@require_safe
def exports(request: UserRequest) -> HttpResponse:
    """The page renews its list while a file is being made."""
    found = list(request.user.data_exports.all())
    context = {
        "exports": found,
        "is_waiting": any(each.state == AccountExport.State.WAITING for each in found),
    }
    htmx = getattr(request, "htmx", False)
    template = "accounts/exports.html#list" if htmx else "accounts/exports.html"
    return render(request, template, context)


@never_cache
@login_required
@require_safe
def download_export(request: UserRequest, pk: int) -> FileResponse:
    found = get_object_or_404(request.user.data_exports, pk=pk, state=AccountExport.State.READY)
    if not default_storage.exists(found.path):
        raise Http404("The file was deleted.")
    return FileResponse(
        found.file.open("rb"),
        as_attachment=True,
        filename=f"account-{found.created_at:%Y-%m-%d}.zip",
        content_type="application/zip",
    )


@sensitive_post_parameters("password")
@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: UserRequest) -> HttpResponse:
    """Says what goes and what stays, and asks for the password."""
    user = request.user
    form = DeleteAccountForm(request.POST if request.method == "POST" else None, user=user)
    if request.method == "POST" and user.has_usable_password():
        # As slow to guess as the log-in is.
        limited = ratelimit.consume_or_429(request, action="reauthenticate", user=user)
        if limited is not None:
            return HttpResponse(limited.content, status=limited.status_code)
        if form.is_valid() and _deleted(request):
            return redirect("home:home")
    return render(request, "accounts/delete.html", {"form": form, "fate": fate_of(user)})


def _deleted(request: UserRequest) -> bool:
    try:
        delete_account(user=request.user)
    except AccountKept as kept:
        messages.error(request, str(kept))
        return False
    logout(request)
    messages.success(request, "Your account is deleted. What takes longer goes in a few minutes.")
    return True
