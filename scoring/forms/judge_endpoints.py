"""The form of a board's endpoint of the LLM judge."""

from typing import Any

from django import forms

from scoring.models import JudgeEndpoint
from scoring.models.judge_endpoints import (
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
from scoring.services.judge_endpoints import SETTINGS


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
