"""Where a board's judge answers: for its organisers."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from portal.accounts.access import UserRequest, organiser_required
from scoring.access import board_for
from scoring.forms.judge_endpoints import EndpointForm
from scoring.models import JudgeEndpoint
from scoring.selectors.judge_endpoints import endpoint_of, spent_this_month
from scoring.services.judge_endpoints import Trial, remove_endpoint, set_endpoint, try_judge
from scoring.services.judging import JudgeUnset, JudgingRefused, judge_model


@sensitive_post_parameters("key")
@organiser_required
@require_http_methods(["GET", "HEAD", "POST"])
def endpoint(request: UserRequest, slug: str) -> HttpResponse:
    """The endpoint, what is spent of its month, and the form that sets it."""
    board = board_for(request.user, slug)
    own = endpoint_of(board)
    form = EndpointForm(request.POST if request.method == "POST" else None, endpoint=own)
    if form.is_valid():
        saved = set_endpoint(
            board=board, values=form.values(), key=form.new_key(), actor=request.user
        )
        _tell_saved(request, own, saved)
        return redirect("scoring:judge-endpoint", slug)
    context = {
        "board": board,
        "own": own,
        "form": form,
        "month": spent_this_month(board, own),
        "settings_model": _settings_model(),
    }
    status = 400 if form.errors else 200
    return render(request, "scoring/judge_endpoint.html", context, status=status)


def _settings_model() -> str:
    try:
        return judge_model()
    except JudgeUnset:
        return ""


def _tell_saved(request: HttpRequest, before: JudgeEndpoint | None, saved: JudgeEndpoint) -> None:
    if before and before.has_key and not saved.has_key and before.base_url != saved.base_url:
        messages.warning(
            request,
            "Saved. The address is another, so the key was dropped: enter it if the new one is to "
            "get it.",
        )
    else:
        messages.success(request, f"Saved. {saved.model} judges this board's pages.")


@organiser_required
@require_POST
def remove(request: UserRequest, slug: str) -> HttpResponse:
    """Back to the judge of the settings; done twice it changes nothing."""
    board = board_for(request.user, slug)
    remove_endpoint(board=board, actor=request.user)
    messages.success(request, "Taken away, with its key. The judge is that of the settings.")
    return redirect("scoring:judge-endpoint", slug)


@organiser_required
@require_POST
def try_it(request: UserRequest, slug: str) -> HttpResponse:
    """One tiny question, now."""
    board = board_for(request.user, slug)
    try:
        trial = try_judge(board=board, actor=request.user)
    except JudgingRefused as refusal:
        messages.warning(request, str(refusal))
    else:
        (messages.warning if trial.fault else messages.success)(request, _told(trial))
    return redirect("scoring:judge-endpoint", slug)


def _told(trial: Trial) -> str:
    """A trial in words."""
    if trial.fault:
        return f"{trial.model}: {trial.fault} (after {trial.milliseconds:,} ms)."
    usage = trial.usage
    tokens = f"{usage.input:,} tokens in and {usage.output:,} out"
    if usage.uncertain:
        tokens = f"without telling its tokens, counted as {tokens}"
    else:
        tokens = f"with {tokens}"
    cost = f", which cost {trial.cost:.6f}" if trial.cost else ""
    return f"{trial.model} answered in {trial.milliseconds:,} ms {tokens}{cost}."
