"""The page and the form of a board's judge endpoint, for organisers."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from portal.accounts.access import UserRequest, organiser_required
from scoring.access import board_for
from scoring.models import JudgeEndpoint
from scoring.models.judging import (
    MOST_ADDRESS,
    MOST_AMOUNT,
    MOST_CALLS,
    MOST_KEY,
    NO_PRICES,
    check_address,
    check_key,
    check_model_name,
    plain_address,
)

from .services import (
    SETTINGS,
    JudgeUnset,
    JudgingRefused,
    Trial,
    endpoint_of,
    judge_model,
    remove_endpoint,
    set_endpoint,
    spent_this_month,
    try_judge,
)


class EndpointForm(forms.Form):
    """The key is only ever written: the form shows whether there is one, never what it is."""

    base_url = forms.CharField(
        max_length=MOST_ADDRESS,
        validators=[check_address],
        label="Address",
        help_text="Of an API with OpenAI's chat completions, such as https://api.example.org/v1. "
        "By http:// others on the way can read the key.",
        widget=forms.URLInput(attrs={"class": "mono", "autocomplete": "off"}),
    )
    model = forms.CharField(
        validators=[check_model_name],
        help_text="As the endpoint names it.",
        widget=forms.TextInput(attrs={"class": "mono", "autocomplete": "off"}),
    )
    key = forms.CharField(
        required=False,
        max_length=MOST_KEY,
        validators=[check_key],
        widget=forms.PasswordInput(attrs={"class": "mono", "autocomplete": "new-password"}),
    )
    forget_key = forms.BooleanField(required=False, label="Forget the key")
    price_input = forms.FloatField(
        min_value=0,
        max_value=MOST_AMOUNT,
        initial=0,
        label="Price of a million tokens in",
        help_text="In any currency, the same for all amounts here.",
    )
    price_output = forms.FloatField(
        min_value=0, max_value=MOST_AMOUNT, initial=0, label="Price of a million tokens out"
    )
    budget = forms.FloatField(
        required=False,
        min_value=0,
        max_value=MOST_AMOUNT,
        label="Budget a month",
        help_text="No call is made that could go beyond it. A month is one of the calendar, UTC. "
        "Empty: no limit.",
    )
    calls_per_minute = forms.IntegerField(
        min_value=0,
        max_value=MOST_CALLS,
        initial=0,
        label="Calls a minute",
        help_text="Of each worker's process. 0: no limit.",
    )

    def __init__(self, *args: Any, endpoint: JudgeEndpoint | None, **kwargs: Any) -> None:
        if endpoint is not None:
            kwargs["initial"] = {name: _typed(getattr(endpoint, name)) for name in SETTINGS}
        super().__init__(*args, **kwargs)
        has_key = endpoint is not None and endpoint.has_key
        if not has_key:
            del self.fields["forget_key"]
        self.fields["key"].help_text = (
            "One is kept, and never shown again. Empty keeps it, unless the address changes: then "
            "it is dropped, so that nobody can have it sent elsewhere. Enter it again if it is to "
            "go to the new address."
            if has_key
            else "It is kept encrypted and never shown again. Empty: none is sent, also none of "
            "the site's settings."
        )

    def clean_base_url(self) -> str:
        return plain_address(self.cleaned_data["base_url"])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("key") and data.get("forget_key"):
            self.add_error("forget_key", "Enter another key or forget the key, not both.")
        prices = data.get("price_input"), data.get("price_output")
        if data.get("budget") is not None and None not in prices and not any(prices):
            self.add_error("budget", NO_PRICES)
        return data

    def values(self) -> dict[str, Any]:
        """As `set_endpoint` takes them."""
        return {name: self.cleaned_data[name] for name in SETTINGS}

    def new_key(self) -> str | None:
        """None keeps the key that is there, an empty text forgets it."""
        if self.cleaned_data.get("forget_key"):
            return ""
        return self.cleaned_data["key"] or None


def _typed(value: Any) -> Any:
    """As people type it: 20 rather than 20.0."""
    return f"{value:.15g}" if isinstance(value, float) else value


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
        _confirm_saved(request, own, saved)
        return redirect("scoring:judge-endpoint", slug)
    context = {
        "board": board,
        "own": own,
        "form": form,
        "month": spent_this_month(board, own),
        "settings_model": _settings_model(),
    }
    status = 400 if form.errors else 200
    return render(request, "scoring/judging/endpoint.html", context, status=status)


def _settings_model() -> str:
    try:
        return judge_model()
    except JudgeUnset:
        return ""


def _confirm_saved(
    request: HttpRequest, before: JudgeEndpoint | None, saved: JudgeEndpoint
) -> None:
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
