"""Pages of model runs, for organisers, with their forms; and the re-runs of a submission."""

import json
from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from portal.accounts.models import User
from portal.files.uploads import UploadForm, was_too_large
from portal.jobs.selectors import queue_position
from scoring.access import board_for, submission_for
from scoring.answering.prompts import FILE, ITEM, OWN, SYSTEM
from scoring.grading.selectors import Progress
from scoring.judging.services import endpoint_of
from scoring.judging.views import tell_trial
from scoring.models import Board, JudgeEndpoint, ModelRun, Phase, Submission
from scoring.models.judging import MOST_AMOUNT, Purpose
from scoring.models.running import MOST_CONCURRENCY
from scoring.submissions.forms import ManifestField, predictions_field
from scoring.submissions.manifests import ManifestRefused
from scoring.web import warnings_of

from .runs import try_model
from .selectors import (
    PER_PAGE,
    board_runs,
    is_stopping,
    noted_items,
    reruns_of,
    run_progress,
    spent_by,
)
from .services import (
    DEFAULT_DECODING,
    LONGEST_PROMPT,
    RunRefused,
    add_rerun,
    cancel_model_run,
    check_decoding,
    check_prompt,
    continue_model_run,
    prompt_versions,
    start_model_run,
    submit_model_run,
)

_MOST_CHARACTERS = 5_000
_PROMPTS = {OWN: "Only the question of each item", FILE: "Custom prompt"}


class PhaseField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: Phase) -> str:
        return f"{obj.title}, {obj.release}"


class ModelRunForm(forms.Form):
    """Settings of a run. The endpoint is the board's."""

    phase = PhaseField(queryset=Phase.objects.none(), empty_label=None)
    model = forms.CharField(
        max_length=120,
        help_text="The name that the endpoint uses for the model.",
        widget=forms.TextInput(attrs={"class": "mono", "autocomplete": "off"}),
    )
    name = forms.CharField(
        required=False,
        max_length=120,
        label="Name on the leaderboard",
        help_text="Leave empty to use the model name.",
    )
    prompt_version = forms.ChoiceField(label="Prompt")
    prompt_text = forms.CharField(
        required=False,
        max_length=LONGEST_PROMPT,
        label="Custom prompt",
        help_text="$question is replaced by the question of the item.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    system_prompt = forms.CharField(
        required=False, max_length=LONGEST_PROMPT, widget=forms.Textarea(attrs={"rows": 2})
    )
    decoding = forms.CharField(
        required=False,
        max_length=_MOST_CHARACTERS,
        help_text="One setting per line, for example temperature=0.",
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"}),
    )
    is_raw = forms.BooleanField(
        required=False,
        label="Do not repair answers",
        help_text="By default, code fences are removed and invalid JSON is repaired. The run "
        "manifest counts the repaired answers.",
    )
    concurrency = forms.IntegerField(
        min_value=1, max_value=MOST_CONCURRENCY, initial=4, label="Concurrent calls"
    )
    budget = forms.FloatField(
        required=False,
        min_value=0,
        max_value=MOST_AMOUNT,
        help_text="Calls that could exceed the budget are not made. Leave empty to apply only the "
        "monthly budget of the endpoint.",
    )

    def __init__(
        self,
        *args: Any,
        board: Board,
        endpoint: JudgeEndpoint | None,
        rerun_of: Submission | None = None,
        **kwargs: Any,
    ) -> None:
        """For a re-run the settings of the submission's manifest are filled in."""
        kwargs["initial"] = _initial(board, endpoint, rerun_of)
        super().__init__(*args, **kwargs)
        phase, prompt = self.fields["phase"], self.fields["prompt_version"]
        assert isinstance(phase, PhaseField)
        assert isinstance(prompt, forms.ChoiceField)
        phases = board.phases.select_related("board", "release__dataset").order_by("-id")
        phase.queryset = phases if rerun_of is None else phases.filter(pk=rerun_of.phase_id)
        prompt.choices = [
            (version, _PROMPTS.get(version, version)) for version in prompt_versions(board)
        ]
        if rerun_of is not None:
            del self.fields["name"]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if "prompt_version" in data and "prompt_text" in data:
            try:
                check_prompt(data["prompt_version"], data["prompt_text"])
            except ValueError as error:
                self.add_error("prompt_text", str(error))
        return data

    def clean_decoding(self) -> dict[str, Any]:
        lines = [line.strip() for line in self.cleaned_data["decoding"].splitlines()]
        values = {}
        for line in filter(None, lines):
            name, equals, value = line.partition("=")
            if not equals:
                raise forms.ValidationError(f"“{line[:60]}” must have the form NAME=VALUE.")
            values[name.strip()] = read_value(value.strip())
        try:
            return check_decoding(values)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


class RerunForm(UploadForm):
    """The file of a run that repeats a submission, with its manifest."""

    file = predictions_field("Predictions made with the same settings and endpoint.")
    manifest = ManifestField()


def read_value(text: str) -> Any:
    """A JSON value, or the text itself.

    >>> read_value("0.5"), read_value("true"), read_value("high")
    (0.5, True, 'high')
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _initial(
    board: Board, endpoint: JudgeEndpoint | None, rerun_of: Submission | None
) -> dict[str, Any]:
    about = rerun_of.manifest.about if rerun_of is not None and has_manifest(rerun_of) else {}
    decoding = about.get("decoding") or dict(DEFAULT_DECODING)
    texts = {prompt["name"]: prompt for prompt in about.get("prompts") or []}
    system = texts.pop(SYSTEM, {})
    first = next(iter(texts.values()), system)
    return {
        "model": about.get("model") or (endpoint.model if endpoint else ""),
        "prompt_version": first.get("version") or prompt_versions(board)[0],
        "prompt_text": texts[ITEM]["text"] if ITEM in texts and first["version"] == FILE else "",
        "system_prompt": system.get("text", ""),
        "is_raw": "--raw" in about.get("command", "").split(),
        "decoding": "\n".join(f"{name}={_shown(value)}" for name, value in decoding.items()),
    }


def has_manifest(submission: Submission) -> bool:
    return getattr(submission, "manifest", None) is not None


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


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
        "board": submission.phase.board,
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
    """Sends a test question to the model endpoint."""
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
    run = _run(request.user, slug, pk)
    progress = run_progress(run)
    context = {
        "board": run.phase.board,
        "run": run,
        "progress": progress,
        "queue": None
        if run.is_finished
        else Progress(progress.done, progress.total, "", queue_position(run.job_group)),
        "is_cancelling": is_stopping(run),
        "spent": spent_by(run),
        "reasons": noted_items(run),
        "may_submit": run.may_go_on and progress.done > 0 and not run.phase.completeness_rule,
    }
    response = render(request, template, context)
    response["Vary"] = "HX-Request, Cookie"
    return response


def _action(act: Callable[..., ModelRun]) -> Callable[..., HttpResponseBase]:
    @organiser_required
    @require_POST
    def view(request: UserRequest, slug: str, pk: int) -> HttpResponse:
        run = _run(request.user, slug, pk)
        with warnings_of(request, RunRefused):
            # The run's page says in words what it does now.
            act(run=run, actor=request.user)
        return redirect(run)

    return view


cancel = _action(cancel_model_run)
go_on = _action(continue_model_run)
submit = _action(submit_model_run)
