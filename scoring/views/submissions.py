"""Submissions: one's own, the status and result of one, and what is done with it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, organiser_required
from scoring.access import kept_submission, submission_for
from scoring.files import upload_response
from scoring.forms import VerdictForm
from scoring.models import Submission
from scoring.selectors.items import item_list, item_page
from scoring.selectors.submissions import latest_grading, own_submissions, submission_page
from scoring.services.gradings import GradingRefused, cancel_grading, retry_grading
from scoring.services.publication import (
    PublicationRefused,
    judge_submission,
    pin_submission,
    publish_submission,
    unpublish_submission,
    withdraw_submission,
)


@login_required
@require_safe
def submissions(request: UserRequest) -> HttpResponse:
    found = own_submissions(request.user, request.GET.get("page", "1"))
    return render(request, "scoring/submissions.html", {"list": found})


@require_safe
def submission(request: HttpRequest, pk: int) -> HttpResponse:
    """Status and result; asked for by htmx, only the part that changes while it is graded."""
    found = submission_for(request.user, pk)
    page = submission_page(request.user, found)
    items = None
    if page.shows_items and page.is_done and page.grading is not None:
        items = item_list(found, page.grading, request.GET.get("page", "1"))
    template = "scoring/submission.html"
    if request.headers.get("HX-Request"):
        template += "#status"
    response = render(
        request, template, {"page": page, "items": items, "verdict": VerdictForm(instance=found)}
    )
    response["Vary"] = "HX-Request, Cookie"
    return response


@require_safe
def item(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    page = item_page(request.user, submission_for(request.user, pk), name)
    return render(request, "scoring/item.html", {"page": page})


@login_required
@require_safe
def download(request: UserRequest, pk: int) -> FileResponse:
    """The file as it was uploaded, for its owner and for organisers."""
    return upload_response(kept_submission(request.user, pk))


@login_required
@require_POST
def cancel(request: UserRequest, pk: int) -> HttpResponse:
    found = kept_submission(request.user, pk)
    try:
        cancel_grading(grading=latest_grading(found), actor=request.user)
    except GradingRefused as refusal:
        messages.warning(request, str(refusal))
    return redirect(found)


@login_required
@require_POST
def retry(request: UserRequest, pk: int) -> HttpResponse:
    found = kept_submission(request.user, pk)
    try:
        retry_grading(grading=latest_grading(found), actor=request.user)
    except GradingRefused as refusal:
        messages.warning(request, str(refusal))
    return redirect(found)


@login_required
@require_POST
def publish(request: UserRequest, pk: int) -> HttpResponse:
    found = kept_submission(request.user, pk)
    try:
        publish_submission(submission=found, actor=request.user)
        messages.success(request, "Published: it stands on the leaderboard now.")
    except PublicationRefused as refusal:
        messages.warning(request, str(refusal))
    return redirect(found)


@login_required
@require_POST
def unpublish(request: UserRequest, pk: int) -> HttpResponse:
    found = kept_submission(request.user, pk)
    unpublish_submission(submission=found, actor=request.user)
    messages.success(request, "Taken off the leaderboard and private again.")
    return redirect(found)


@login_required
@require_POST
def withdraw(request: UserRequest, pk: int) -> HttpResponse:
    """For good: the page asks before it sends this."""
    found = withdraw_submission(submission=kept_submission(request.user, pk), actor=request.user)
    messages.success(request, "Withdrawn. It stands on no leaderboard and cannot be published.")
    return redirect(found)


@organiser_required
@require_POST
def judge(request: UserRequest, pk: int) -> HttpResponse:
    """Verifies or disqualifies a submission."""
    found, form = submission_for(request.user, pk), VerdictForm(request.POST)
    try:
        if not form.is_valid():
            raise PublicationRefused("Choose whether it is verified, disqualified or neither.")
        judge_submission(
            submission=found,
            verdict=Submission.Verdict(form.cleaned_data["verdict"]),
            reason=form.cleaned_data["verdict_reason"],
            actor=request.user,
        )
        messages.success(request, "Saved; its row on the leaderboard says so.")
    except PublicationRefused as refusal:
        messages.warning(request, str(refusal))
    return redirect(found)


@organiser_required
@require_POST
def pin(request: UserRequest, pk: int) -> HttpResponse:
    is_pinned = request.POST.get("pinned") == "1"
    found = pin_submission(
        submission=submission_for(request.user, pk), is_pinned=is_pinned, actor=request.user
    )
    return redirect(found)
