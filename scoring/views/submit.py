"""Submitting: the form, the check of the file, the faults."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render

from portal.accounts.access import UserRequest
from portal.common.uploads import was_too_large
from scoring.access import board_for
from scoring.forms import SubmissionForm
from scoring.models import Board
from scoring.selectors.boards import phases_for
from scoring.services.submissions import SubmissionRefused, create_submission, find_submission
from scoring.services.validation import CheckedUpload, check_upload


@login_required
def submit(request: UserRequest, slug: str) -> HttpResponse:
    """Asks for a submission; with a file, takes it or says everything that is wrong with it."""
    board = board_for(request.user, slug)
    if request.method != "POST":
        form = SubmissionForm(phases=phases_for(request.user, board))
        return _page(request, board, form)
    too_large = _is_too_large(request)
    form = SubmissionForm(
        request.POST,
        request.FILES,
        phases=phases_for(request.user, board),
        too_large=too_large,
    )
    earlier = find_submission(owner=request.user, form_key=request.POST.get("form_key", ""))
    if earlier is not None:
        return _go(request, earlier.get_absolute_url())
    if not form.is_valid():
        return _page(request, board, form, status=413 if too_large else 400)
    return _take(request, board, form)


def _take(request: UserRequest, board: Board, form: SubmissionForm) -> HttpResponse:
    """A complete form: the file is looked through, and stored if nothing speaks against it."""
    phase, file = form.cleaned_data["phase"], form.cleaned_data["file"]
    checked = check_upload(phase=phase, file=file, filename=file.name)
    if not checked.can_be_taken(accept_missing=form.cleaned_data["accept_missing"]):
        return _page(request, board, form, checked=checked, status=422)
    try:
        submission = create_submission(
            phase=phase,
            owner=request.user,
            card=form.card(),
            file=file,
            filename=file.name,
            checked=checked,
            form_key=form.cleaned_data["form_key"],
        )
    except SubmissionRefused as refusal:
        form.add_error(None, str(refusal))
        return _page(request, board, form, status=409)
    return _go(request, submission.get_absolute_url())


def _is_too_large(request: UserRequest) -> bool:
    """Known once the upload was read, which reading any of its fields does."""
    _ = request.FILES
    return was_too_large(request)


def _go(request: UserRequest, url: str) -> HttpResponse:
    """A redirect; told to htmx by a header, since the browser hides a real one from it."""
    if not request.headers.get("HX-Request"):
        return redirect(url)
    return HttpResponse(status=204, headers={"HX-Redirect": url})


def _page(
    request: UserRequest,
    board: Board,
    form: SubmissionForm,
    *,
    checked: CheckedUpload | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page; for htmx the outcome alone, so that the chosen file stays in the form."""
    template = "scoring/submit.html"
    if request.headers.get("HX-Request"):
        template += "#outcome"
    context = {"board": board, "form": form, "checked": checked}
    response = render(request, template, context, status=status)
    response["Vary"] = "HX-Request, Cookie"
    return response
