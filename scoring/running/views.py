"""Pages of model runs, for organisers."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from portal.accounts.models import User
from portal.files.uploads import was_too_large
from scoring.access import board_for, submission_for
from scoring.judging.services import endpoint_of
from scoring.judging.views import tell_trial
from scoring.models import Board, ModelRun, Submission
from scoring.models.judging import Purpose
from scoring.submissions.manifests import ManifestRefused
from scoring.web import warnings_of

from .forms import ModelRunForm, RerunForm, has_manifest
from .reruns import reruns_of
from .selectors import PER_PAGE, board_runs, run_page
from .services import (
    RunRefused,
    add_rerun,
    cancel_model_run,
    continue_model_run,
    start_model_run,
    submit_model_run,
)
from .trials import try_model


@organiser_required
@require_http_methods(["GET", "HEAD", "POST"])
def runs(request: UserRequest, slug: str) -> HttpResponse:
    """The runs of a board, and the form that starts one. `?rerun=NUMBER` repeats a submission."""
    board = board_for(request.user, slug)
    endpoint = endpoint_of(board, Purpose.MODEL)
    rerun_of = _rerun_of(board, request.GET.get("rerun", ""))
    sent = request.POST if request.method == "POST" else None
    form = ModelRunForm(sent, board=board, endpoint=endpoint, rerun_of=rerun_of)
    status = 200
    if form.is_valid():
        try:
            values = {"name": "", **form.cleaned_data}
            run = start_model_run(actor=request.user, rerun_of=rerun_of, **values)
        except RunRefused as refusal:
            form.add_error(None, str(refusal))
            status = 409
        else:
            return redirect(run)
    elif form.errors:
        status = 400
    context = {
        "board": board,
        "endpoint": endpoint,
        "form": form,
        "rerun_of": rerun_of,
        "runs": Paginator(board_runs(board), PER_PAGE).get_page(request.GET.get("page", "1")),
    }
    return render(request, "scoring/running/runs.html", context, status=status)


def _rerun_of(board: Board, number: str) -> Submission | None:
    if not number.isdecimal():
        return None
    submissions = Submission.objects.filter(phase__board=board, rerun_of=None)
    return get_object_or_404(submissions.select_related("manifest"), pk=int(number))


@require_http_methods(["GET", "HEAD", "POST"])
def reruns(request: HttpRequest, pk: int) -> HttpResponse:
    """The re-runs of a submission, for all who see it. Organisers can add one by POST."""
    if request.method == "POST" and not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    submission = submission_for(request.user, pk)
    organises = is_organiser(request.user)
    if request.method == "POST" and not organises:
        raise PermissionDenied("Only organisers can add a re-run.")
    # Reading the files shows whether the upload was stopped for its size.
    sent = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    form = RerunForm(*sent, too_large=was_too_large(request))
    if form.is_valid() and isinstance(request.user, User):
        try:
            file = form.cleaned_data["file"]
            add_rerun(
                submission=submission,
                file=file,
                filename=file.name,
                manifest=form.cleaned_data["manifest"],
                actor=request.user,
            )
        except ManifestRefused as refusal:
            form.add_error("manifest", refusal.faults)
        except RunRefused as refusal:
            form.add_error("file", str(refusal))
        else:
            messages.success(request, "Re-run added. It is being graded.")
            return redirect("scoring:submission-reruns", pk)
    context = {
        "submission": submission,
        "reruns": reruns_of(request.user, submission),
        "form": form if organises and submission.rerun_of_id is None else None,
        "has_manifest": has_manifest(submission),
    }
    status = 400 if form.errors else 200
    return render(request, "scoring/running/reruns.html", context, status=status)


@organiser_required
@require_POST
def try_it(request: UserRequest, slug: str) -> HttpResponse:
    """Sends a test question to the endpoint for models."""
    board = board_for(request.user, slug)
    with warnings_of(request, RunRefused):
        tell_trial(request, try_model(board=board, actor=request.user))
    return redirect("scoring:model-endpoint", slug)


def _run(user: User, slug: str, pk: int) -> ModelRun:
    return get_object_or_404(board_runs(board_for(user, slug)), pk=pk)


@organiser_required
@require_safe
def run(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """The progress; for htmx, only the part that changes."""
    template = "scoring/running/run.html"
    if request.headers.get("HX-Request"):
        template += "#progress"
    response = render(request, template, {"page": run_page(_run(request.user, slug, pk))})
    response["Vary"] = "HX-Request, Cookie"
    return response


def _action(act: Callable[..., ModelRun]) -> Callable[..., HttpResponseBase]:
    @organiser_required
    @require_POST
    def view(request: UserRequest, slug: str, pk: int) -> HttpResponse:
        found = _run(request.user, slug, pk)
        with warnings_of(request, RunRefused):
            # The run's page says in words what it does now.
            act(run=found, actor=request.user)
        return redirect(found)

    return view


cancel = _action(cancel_model_run)
go_on = _action(continue_model_run)
submit = _action(submit_model_run)
