"""Submissions: one's own, the status and result of one, and what is done with it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.file_responses import file_response
from portal.datasets.rendering import sandboxed_html_response
from scoring.access import (
    kept_submission,
    steered_submission,
    submission_for,
    submission_to_withdraw,
)
from scoring.charts.drawing import library_version
from scoring.charts.look import live_style
from scoring.files import upload_response
from scoring.forms.submissions import VerdictForm
from scoring.models import Submission
from scoring.selectors.citations import submission_bibtex
from scoring.selectors.item_lists import ItemQuery, item_list
from scoring.selectors.items import item_page
from scoring.selectors.rendered_items import rendered_item
from scoring.selectors.score_charts import score_chart, score_frame
from scoring.selectors.submissions import (
    cited_grading,
    latest_grading,
    own_submissions,
    submission_page,
)
from scoring.services.gradings import GradingRefused, cancel_grading, retry_grading
from scoring.services.publication import (
    PublicationRefused,
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
    return render(request, "scoring/submissions.html", {"list": found})


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
            asked=_asked(request),
            earlier=str(page.grading.pk) if page.is_earlier else "",
        )
        scores = score_frame(score_chart(request.user, found, page.grading))
    template = "scoring/submission.html"
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
def item(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    found = submission_for(request.user, pk)
    page = item_page(
        request.user,
        found,
        name,
        wanted=request.GET.get("grading", ""),
        asked=_asked(request),
        which=request.GET.get("facts", ""),
    )
    return render(request, "scoring/item.html", {"page": page})


@require_safe
def citation(request: HttpRequest, pk: int) -> HttpResponse:
    """How to cite the submission, as BibTeX."""
    found = submission_for(request.user, pk)
    url = request.build_absolute_uri(found.get_absolute_url())
    shown = cited_grading(request.user, found)
    return file_response(submission_bibtex(found, shown, url=url, accessed=timezone.now().date()))


@require_safe
def rendered(request: HttpRequest, pk: int, name: str, side: str) -> HttpResponse:
    """Gold or prediction of an item as a page of its own, for a sandboxed frame."""
    found = submission_for(request.user, pk)
    wanted = request.GET.get("grading", "")
    return sandboxed_html_response(rendered_item(request.user, found, name, side, wanted))


def _asked(request: HttpRequest) -> ItemQuery:
    asked = {name: request.GET.get(name, "") for name in ("order", "show", "part", "error", "q")}
    return ItemQuery.parse(**asked)


@login_required
@require_safe
def download(request: UserRequest, pk: int) -> FileResponse:
    """The file as it was uploaded, for its keepers."""
    return upload_response(kept_submission(request.user, pk))


@login_required
@require_POST
def cancel(request: UserRequest, pk: int) -> HttpResponse:
    found = steered_submission(request.user, pk)
    try:
        cancel_grading(grading=latest_grading(found), actor=request.user)
    except GradingRefused as refusal:
        messages.warning(request, str(refusal))
    return redirect(found)


@login_required
@require_POST
def retry(request: UserRequest, pk: int) -> HttpResponse:
    found = steered_submission(request.user, pk)
    try:
        retry_grading(grading=latest_grading(found), actor=request.user)
    except GradingRefused as refusal:
        messages.warning(request, str(refusal))
    return redirect(found)


@login_required
@require_POST
def publish(request: UserRequest, pk: int) -> HttpResponse:
    found = steered_submission(request.user, pk)
    try:
        publish_submission(submission=found, actor=request.user)
        messages.success(request, "Published: it stands on the leaderboard now.")
    except PublicationRefused as refusal:
        messages.warning(request, str(refusal))
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
    try:
        open_items(submission=found, has_open_items=opened, actor=request.user)
        told = "Opened: everybody may read the single items while the result is public."
        messages.success(request, told if opened else "The single items are closed again.")
    except PublicationRefused as refusal:
        messages.warning(request, str(refusal))
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
