"""Submitting: the form, the check of the file, the faults."""

from functools import partial
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render

from portal.accounts.access import UserRequest, is_organiser
from portal.accounts.emails import origin_of
from portal.accounts.teams.selectors import teams_of
from portal.files.uploads import was_too_large
from scoring.access import board_for, submission_to_replace
from scoring.forms.submissions import SubmissionForm
from scoring.models import Board, Submission
from scoring.selectors.boards import phases_for, precheck_data
from scoring.selectors.examples import example_file
from scoring.selectors.limits import phase_standings, team_standings
from scoring.services.submissions import SubmissionRefused, create_submission, find_submission
from scoring.services.validation import CheckedUpload, check_upload


@login_required
def submit(request: UserRequest, slug: str) -> HttpResponse:
    """Asks for a submission; with a file, takes it or says everything that is wrong with it.

    With `?again=NUMBER` it is a new version of that submission, whose card is filled in.
    """
    board = board_for(request.user, slug)
    phases = phases_for(request.user, board)
    earlier = _earlier(request, board)
    make_form = partial(
        SubmissionForm,
        phases=phases,
        teams=teams_of(request.user),
        earlier=earlier,
        required=board.card_fields,
    )
    if request.method != "POST":
        return _page(request, board, make_form(), earlier=earlier)
    too_large = _is_too_large(request)
    form = make_form(request.POST, request.FILES, too_large=too_large)
    sent = find_submission(owner=request.user, form_key=request.POST.get("form_key", ""))
    if sent is not None:
        return _go(request, sent.get_absolute_url())
    if not form.is_valid():
        return _page(request, board, form, earlier=earlier, status=413 if too_large else 400)
    return _take(request, board, form, earlier)


def _earlier(request: UserRequest, board: Board) -> Submission | None:
    """The submission that a new version is sent of, if the address names one."""
    wanted = request.GET.get("again", "")
    return submission_to_replace(request.user, board, int(wanted)) if wanted.isdecimal() else None


def _take(
    request: UserRequest, board: Board, form: SubmissionForm, earlier: Submission | None
) -> HttpResponse:
    """A complete form: the file is looked through, and stored if nothing speaks against it."""
    phase, file = form.cleaned_data["phase"], form.cleaned_data["file"]
    checked = check_upload(phase=phase, file=file, filename=file.name, user=request.user)
    is_check = "check_only" in request.POST
    if is_check or not checked.can_be_taken(accept_missing=form.cleaned_data["accept_missing"]):
        status = 200 if is_check else 422
        return _page(
            request, board, form, earlier=earlier, checked=checked, is_check=is_check, status=status
        )
    try:
        submission = create_submission(
            phase=phase,
            owner=request.user,
            card=form.card(),
            file=file,
            filename=file.name,
            checked=checked,
            form_key=form.cleaned_data["form_key"],
            team=form.cleaned_data["team"],
            replaces=earlier,
            letter_origin=origin_of(request) if form.cleaned_data["letter"] else "",
        )
    except SubmissionRefused as refusal:
        form.add_error(None, str(refusal))
        return _page(request, board, form, earlier=earlier, status=409)
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
    earlier: Submission | None = None,
    checked: CheckedUpload | None = None,
    is_check: bool = False,
    status: int = 200,
) -> HttpResponse:
    """The page; for htmx the outcome alone, so that the chosen file stays in the form."""
    template = "scoring/submit.html"
    if request.headers.get("HX-Request"):
        template += "#outcome"
    context = {
        "board": board,
        "form": form,
        "earlier": earlier,
        "checked": checked,
        "is_check": is_check,
        "precheck": precheck_data(request.user, board, form.phases),
        **_standings(request, form),
        "example": example_file(board),
    }
    response = render(request, template, context, status=status)
    response["Vary"] = "HX-Request, Cookie"
    return response


def _standings(request: UserRequest, form: SubmissionForm) -> dict[str, Any]:
    """Where the user and their teams stand in the limits, which stop no organiser."""
    if is_organiser(request.user):
        return {"standings": [], "team_standings": []}
    return {
        "standings": phase_standings(request.user, form.phases),
        "team_standings": team_standings(form.teams, form.phases),
    }
