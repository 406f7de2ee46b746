"""The page of a board's judge endpoint, for organisers."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from portal.accounts.access import UserRequest, organiser_required
from scoring.access import board_for
from scoring.models import JudgeEndpoint
from scoring.models.judging import (
    MOST_AMOUNT,
    MOST_CALLS,
    MOST_HEADERS,
    MOST_KEY,
    MOST_URL,
    NO_PRICES,
    Purpose,
    check_key,
    check_model_name,
    check_url_and_query,
    parted_url,
    read_headers,
)
from scoring.web import warnings_of

from .services import (
    SETTINGS,
    JudgingRefused,
    Trial,
    endpoint_of,
    host_fault,
    remove_endpoint,
    set_endpoint,
    spent_this_month,
    try_judge,
)


class EndpointForm(forms.Form):
    """The form shows whether there is a key, but never the key itself."""

    base_url = forms.CharField(
        max_length=MOST_URL,
        validators=[check_url_and_query],
        label="URL",
        help_text="An OpenAI-compatible API, such as https://api.example.org/v1. With http:// the "
        "key is sent unencrypted. A query, such as ?api-version=1, is not shown again.",
        widget=forms.URLInput(attrs={"class": "mono", "autocomplete": "off"}),
    )
    model = forms.CharField(
        validators=[check_model_name],
        help_text="The name that the endpoint uses for the model.",
        widget=forms.TextInput(attrs={"class": "mono", "autocomplete": "off"}),
    )
    key = forms.CharField(
        required=False,
        max_length=MOST_KEY,
        validators=[check_key],
        widget=forms.PasswordInput(attrs={"class": "mono", "autocomplete": "new-password"}),
    )
    forget_key = forms.BooleanField(required=False, label="Delete the key")
    headers = forms.CharField(
        required=False,
        max_length=MOST_HEADERS,
        label="Additional headers",
        widget=forms.Textarea(attrs={"class": "mono", "rows": 2, "autocomplete": "off"}),
    )
    forget_extras = forms.BooleanField(required=False, label="Delete the query and the headers")
    price_input = forms.FloatField(
        min_value=0,
        max_value=MOST_AMOUNT,
        initial=0,
        label="Price per million input tokens",
        help_text="Use the same currency for all amounts.",
    )
    price_output = forms.FloatField(
        min_value=0, max_value=MOST_AMOUNT, initial=0, label="Price per million output tokens"
    )
    budget = forms.FloatField(
        required=False,
        min_value=0,
        max_value=MOST_AMOUNT,
        label="Monthly budget",
        help_text="Calls that could exceed the budget of a calendar month (UTC) are not made. "
        "Leave empty for no limit.",
    )
    calls_per_minute = forms.IntegerField(
        min_value=0,
        max_value=MOST_CALLS,
        initial=0,
        label="Calls per minute",
        help_text="For each worker process. Enter 0 for no limit.",
    )

    def __init__(self, *args: Any, endpoint: JudgeEndpoint | None, **kwargs: Any) -> None:
        if endpoint is not None:
            kwargs["initial"] = {name: _typed(getattr(endpoint, name)) for name in SETTINGS}
        super().__init__(*args, **kwargs)
        self.query: str | None = None
        has_extras = endpoint is not None and bool(endpoint.sealed_extras)
        if not has_extras:
            del self.fields["forget_extras"]
        names = ", ".join(endpoint.extra_names) if endpoint is not None else ""
        self.fields["headers"].help_text = (
            "One per line, such as api-key: {key}, where {key} is replaced by the key. "
        ) + (
            f"Stored: {names or 'unreadable values'}. Leave empty to keep them. If the URL "
            "changes, they are deleted."
            if has_extras
            else "Stored encrypted and never shown again."
        )
        has_key = endpoint is not None and endpoint.has_key
        if not has_key:
            del self.fields["forget_key"]
        self.fields["key"].help_text = (
            "A key is stored. Leave empty to keep it. If the URL changes, the key is deleted and "
            "must be entered again."
            if has_key
            else "Stored encrypted and never shown again. If empty, no key is sent."
        )

    def clean_base_url(self) -> str:
        url, self.query = parted_url(self.cleaned_data["base_url"])
        if fault := host_fault(url):
            raise forms.ValidationError(fault)
        return url

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("key") and data.get("forget_key"):
            self.add_error("forget_key", "Enter a new key or delete the key, not both.")
        if data.get("forget_extras") and (self.query or data.get("headers")):
            self.add_error("forget_extras", "Enter new values or delete them, not both.")
        prices = data.get("price_input"), data.get("price_output")
        if data.get("budget") is not None and None not in prices and not any(prices):
            self.add_error("budget", NO_PRICES)
        return data

    def values(self) -> dict[str, Any]:
        """The values for `set_endpoint`."""
        return {name: self.cleaned_data[name] for name in SETTINGS}

    def hide_secrets(self) -> None:
        """The page never shows them, so they must be entered again after an error."""
        url, mark, _ = self.data.get("base_url", "").partition("?")
        headers = self.data.get("headers")
        self.data = {**dict(self.data.items()), "base_url": url, "headers": ""}
        if mark:
            self.add_error("base_url", "Enter the query again, which is not shown.")
        if headers:
            self.add_error("headers", "Enter the headers again, which are not shown.")

    def clean_headers(self) -> dict[str, str]:
        return read_headers(self.cleaned_data["headers"])

    def secrets(self) -> dict[str, Any]:
        """The other arguments of `set_endpoint`; None keeps what is stored."""
        if self.cleaned_data.get("forget_extras"):
            return {"key": self.new_key(), "query": "", "headers": {}}
        headers = self.cleaned_data["headers"] or None
        return {"key": self.new_key(), "query": self.query, "headers": headers}

    def new_key(self) -> str | None:
        """None keeps the current key, an empty text deletes it."""
        if self.cleaned_data.get("forget_key"):
            return ""
        return self.cleaned_data["key"] or None


def _typed(value: Any) -> Any:
    """A float without a trailing .0, such as 20."""
    return f"{value:.15g}" if isinstance(value, float) else value


@sensitive_post_parameters("key", "headers", "base_url")
@organiser_required
@require_http_methods(["GET", "HEAD", "POST"])
def endpoint(request: UserRequest, slug: str, purpose: Purpose = Purpose.JUDGE) -> HttpResponse:
    """The form of the endpoint, and its spending this month."""
    board = board_for(request.user, slug)
    own = endpoint_of(board, purpose)
    form = EndpointForm(request.POST if request.method == "POST" else None, endpoint=own)
    if form.is_valid():
        saved = set_endpoint(
            board=board,
            values=form.values(),
            **form.secrets(),
            actor=request.user,
            purpose=purpose,
        )
        _confirm_saved(request, own, saved)
        return redirect(f"scoring:{purpose}-endpoint", slug)
    if form.errors:
        form.hide_secrets()
    context = {
        "board": board,
        "own": own,
        "form": form,
        "month": spent_this_month(board, own, purpose),
        "is_judge": purpose == Purpose.JUDGE,
        "settings_model": settings.JUDGE_MODEL if purpose == Purpose.JUDGE else "",
    }
    status = 400 if form.errors else 200
    return render(request, "scoring/judging/endpoint.html", context, status=status)


def _confirm_saved(
    request: HttpRequest, before: JudgeEndpoint | None, saved: JudgeEndpoint
) -> None:
    is_lost = before and (
        (before.has_key and not saved.has_key) or (before.sealed_extras and not saved.sealed_extras)
    )
    if before and is_lost and before.base_url != saved.base_url:
        messages.warning(
            request,
            "Saved. The URL has changed, so its key, query and headers were deleted. Enter those "
            "of the new URL.",
        )
    else:
        is_judge = saved.purpose == Purpose.JUDGE
        words = (
            f"{saved.model} is now the judge of this board."
            if is_judge
            else "You can run a model now."
        )
        messages.success(request, f"Endpoint saved. {words}")


@organiser_required
@require_POST
def remove(request: UserRequest, slug: str, purpose: Purpose = Purpose.JUDGE) -> HttpResponse:
    """Removes the endpoint. Repeating it changes nothing."""
    board = board_for(request.user, slug)
    remove_endpoint(board=board, actor=request.user, purpose=purpose)
    after = (
        " The board now uses the judge from the site settings." if purpose == Purpose.JUDGE else ""
    )
    messages.success(request, f"Endpoint and key removed.{after}")
    return redirect(f"scoring:{purpose}-endpoint", slug)


@organiser_required
@require_POST
def try_it(request: UserRequest, slug: str) -> HttpResponse:
    """Sends a test question."""
    board = board_for(request.user, slug)
    with warnings_of(request, JudgingRefused):
        tell_trial(request, try_judge(board=board, actor=request.user))
    return redirect("scoring:judge-endpoint", slug)


def tell_trial(request: HttpRequest, trial: Trial) -> None:
    """Shows the result of a test question on the next page."""
    (messages.warning if trial.fault else messages.success)(request, _trial_words(trial))


def _trial_words(trial: Trial) -> str:
    if trial.fault:
        return f"{trial.model}: {trial.fault} (after {trial.milliseconds:,} ms)."
    usage = trial.usage
    tokens = f"{usage.input:,} input and {usage.output:,} output tokens"
    at_most = "at most " if usage.uncertain else ""
    if usage.uncertain:
        tokens = f"without reporting its tokens, counted as {tokens}"
    else:
        tokens = f"with {tokens}"
    cost = f", which cost {at_most}{trial.cost:.6f}" if trial.cost else ""
    read = f" “{trial.answer}”" if trial.answer else ""
    return f"{trial.model} answered{read} in {trial.milliseconds:,} ms {tokens}{cost}."
