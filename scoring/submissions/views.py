"""Pages of submissions: sending one, its status and result, actions on it, and all those of a
board.

The page of one's webhooks is here, too.
"""

from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from portal.accounts.emails import origin_of
from portal.accounts.teams.selectors import teams_of
from portal.datasets.responses import file_response
from portal.files.uploads import was_too_large
from scoring.access import (
    board_for,
    kept_submission,
    steered_submission,
    submission_for,
    submission_to_replace,
    submission_to_withdraw,
)
from scoring.boards.forms import BoardStateForm
from scoring.boards.limits import phase_quotas, team_quotas
from scoring.boards.protection import all_warnings, disclosures
from scoring.boards.selectors import example_file, phases_for, precheck_data
from scoring.charts.drawing import library_version
from scoring.charts.look import live_style
from scoring.grading.likeness import board_likenesses
from scoring.grading.notices import (
    SIGNATURE,
    WebhookRefused,
    add_webhook,
    remove_webhook,
    webhook_lines,
)
from scoring.grading.regrade_plans import board_regrades
from scoring.grading.selectors import cited_grading, latest_grading
from scoring.grading.services import GradingRefused, cancel_grading, retry_grading
from scoring.models import Board, Submission, Webhook
from scoring.models.boards import phase_windows
from scoring.results.item_lists import item_list, score_chart, score_frame
from scoring.results.views import asked_items
from scoring.web import upload_response, warnings_of

from .forms import SubmissionForm, VerdictForm, WebhookForm
from .selectors import board_submissions, own_submissions, submission_bibtex, submission_page
from .services import (
    CheckedUpload,
    PublicationRefused,
    SubmissionRefused,
    check_upload,
    create_submission,
    find_submission,
    judge_submission,
    open_items,
    pin_submission,
    publish_submission,
    unpublish_submission,
    withdraw_submission,
)


@login_required
@require_safe
def submissions(request: UserRequest) -> HttpResponse:
    found = own_submissions(request.user, request.GET.get("page", "1"))
    return render(request, "scoring/submissions/submissions.html", {"list": found})


@require_safe
def submission(request: HttpRequest, pk: int) -> HttpResponse:
    """Status and result; asked for by htmx, only the part that changes while it is graded."""
    found = submission_for(request.user, pk)
    page = submission_page(request.user, found, request.GET.get("grading", ""))
    items = scores = None
    if page.shows_items and page.is_done and page.grading is not None:
        items = item_list(
            request.user,
            found,
            page.grading,
            page=request.GET.get("page", "1"),
            asked=asked_items(request),
            earlier=str(page.grading.pk) if page.is_earlier else "",
        )
        scores = score_frame(score_chart(request.user, found, page.grading))
    template = "scoring/submissions/submission.html"
    if request.headers.get("HX-Request"):
        template += "#status"
    context = {
        "page": page,
        "items": items,
        "scores": scores,
        "library": library_version(),
        "live_style": live_style(),
        "verdict": VerdictForm(instance=found),
    }
    response = render(request, template, context)
    response["Vary"] = "HX-Request, Cookie"
    return response


@require_safe
def citation(request: HttpRequest, pk: int) -> HttpResponse:
    """How to cite the submission, as BibTeX."""
    found = submission_for(request.user, pk)
    url = request.build_absolute_uri(found.get_absolute_url())
    shown = cited_grading(request.user, found)
    return file_response(submission_bibtex(found, shown, url=url, accessed=timezone.now().date()))


@login_required
@require_safe
def download(request: UserRequest, pk: int) -> FileResponse:
    """The file as it was uploaded, for its keepers."""
    return upload_response(kept_submission(request.user, pk))


@login_required
@require_POST
def cancel(request: UserRequest, pk: int) -> HttpResponse:
    found = steered_submission(request.user, pk)
    with warnings_of(request, GradingRefused):
        cancel_grading(grading=latest_grading(found), actor=request.user)
    return redirect(found)


@login_required
@require_POST
def retry(request: UserRequest, pk: int) -> HttpResponse:
    found = steered_submission(request.user, pk)
    with warnings_of(request, GradingRefused):
        retry_grading(grading=latest_grading(found), actor=request.user)
    return redirect(found)


@login_required
@require_POST
def publish(request: UserRequest, pk: int) -> HttpResponse:
    found = steered_submission(request.user, pk)
    with warnings_of(request, PublicationRefused):
        publish_submission(submission=found, actor=request.user)
        messages.success(request, "Published: it stands on the leaderboard now.")
    return redirect(found)


@login_required
@require_POST
def unpublish(request: UserRequest, pk: int) -> HttpResponse:
    found = steered_submission(request.user, pk)
    unpublish_submission(submission=found, actor=request.user)
    messages.success(request, "Taken off the leaderboard and private again.")
    return redirect(found)


@login_required
@require_POST
def open_up(request: UserRequest, pk: int) -> HttpResponse:
    """Lets everybody read the single items, or no longer."""
    found, opened = steered_submission(request.user, pk), request.POST.get("open") == "1"
    with warnings_of(request, PublicationRefused):
        open_items(submission=found, has_open_items=opened, actor=request.user)
        told = "Opened: everybody may read the single items while the result is public."
        messages.success(request, told if opened else "The single items are closed again.")
    return redirect(found)


@login_required
@require_POST
def withdraw(request: UserRequest, pk: int) -> HttpResponse:
    """For good: the page asks before it sends this."""
    found = withdraw_submission(
        submission=submission_to_withdraw(request.user, pk), actor=request.user
    )
    messages.success(request, "Withdrawn. It stands on no leaderboard and cannot be published.")
    return redirect(found)


@organiser_required
@require_POST
def judge(request: UserRequest, pk: int) -> HttpResponse:
    """Verifies or disqualifies a submission."""
    found, form = submission_for(request.user, pk), VerdictForm(request.POST)
    with warnings_of(request, PublicationRefused):
        if not form.is_valid():
            raise PublicationRefused("Choose whether it is verified, disqualified or neither.")
        judge_submission(
            submission=found,
            verdict=Submission.Verdict(form.cleaned_data["verdict"]),
            reason=form.cleaned_data["verdict_reason"],
            actor=request.user,
        )
        messages.success(request, "Saved; its row on the leaderboard says so.")
    return redirect(found)


@organiser_required
@require_POST
def pin(request: UserRequest, pk: int) -> HttpResponse:
    is_pinned = request.POST.get("pinned") == "1"
    found = pin_submission(
        submission=submission_for(request.user, pk), is_pinned=is_pinned, actor=request.user
    )
    return redirect(found)


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
            email_origin=origin_of(request) if form.cleaned_data["letter"] else "",
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
    template = "scoring/submissions/submit.html"
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
        return {"quotas": [], "team_quotas": []}
    return {
        "quotas": phase_quotas(request.user, form.phases),
        "team_quotas": team_quotas(form.teams, form.phases),
    }


@login_required
def webhooks(request: UserRequest) -> HttpResponse:
    """The list, and the form for another one. The secret is shown with each, to its owner alone."""
    form = WebhookForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            add_webhook(user=request.user, url=form.cleaned_data["url"])
        except WebhookRefused as refusal:
            form.add_error("url", str(refusal))
        else:
            messages.success(request, "Added. It is told of every grading that ends from now on.")
            return redirect("scoring:webhooks")
    context = {"form": form, "lines": webhook_lines(request.user), "signature": SIGNATURE}
    status = 400 if form.errors else 200
    return render(request, "scoring/submissions/webhooks.html", context, status=status)


@login_required
@require_POST
def webhook_remove(request: UserRequest, pk: int) -> HttpResponse:
    webhook = get_object_or_404(Webhook.objects.of(request.user), pk=pk)
    remove_webhook(webhook=webhook, actor=request.user)
    messages.success(request, "Taken away. It is told nothing more.")
    return redirect("scoring:webhooks")


@organiser_required
@require_safe
def manage(request: UserRequest, slug: str) -> HttpResponse:
    """The submissions of a board, and its state."""
    board = board_for(request.user, slug)
    windows = phase_windows(board)
    phases = [each.phase for each in windows]
    context = {
        "board": board,
        "phases": windows,
        "form": BoardStateForm(initial={"state": board.state}),
        "warnings": all_warnings(phases),
        "disclosures": disclosures(phases) if board.is_draft else [],
        "regrades": board_regrades(board)[:REGRADES_SHOWN],
        "list": board_submissions(request.user, board, request.GET.get("page", "1")),
        "alike": board_likenesses(board, request.GET.get("alike", "1")),
    }
    return render(request, "scoring/submissions/manage.html", context)


REGRADES_SHOWN = 5
