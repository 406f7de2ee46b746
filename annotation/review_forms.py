"""Forms of the domain review. They check what was typed; the service decides what happens."""

from typing import Any

from django import forms

from annotation.models import GoldSpan, ReviewItem
from annotation.services.reviewing import MAX_REASON, MAX_SEED
from annotation.span_values import MAX_VALUE, SIGN_CHOICES

Verdict = ReviewItem.Verdict


class OpenRoundForm(forms.Form):
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_SEED,
        help_text="Leave it empty for a random one. Give one to repeat a draw made elsewhere.",
    )


class SendBackForm(forms.Form):
    reason = forms.CharField(
        max_length=MAX_REASON,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What is wrong, for those who adjudicate the page again.",
    )


class CorrectionForm(forms.Form):
    """What shall be gold instead; with the button `remove` nothing shall be."""

    label = forms.ChoiceField()
    start = forms.IntegerField(min_value=0)
    end = forms.IntegerField(min_value=1)
    value = forms.CharField(
        required=False, max_length=MAX_VALUE, help_text="Empty: read from the text."
    )
    sign = forms.ChoiceField(required=False)
    reason = forms.CharField(
        max_length=MAX_REASON,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Why. It is feedback to the guidelines, and annotators read it beside the gold.",
    )

    def __init__(
        self, *args: Any, fact: ReviewItem | GoldSpan, labels: list[str], **kwargs: Any
    ) -> None:
        fields = ("label", "start", "end", "value", "sign")
        initial = {name: getattr(fact, name) for name in fields}
        super().__init__(*args, **kwargs)
        self.initial = initial
        _choose(self.fields["label"], [(name, name) for name in labels])
        _choose(self.fields["sign"], [("", "read from the text"), *SIGN_CHOICES])
        if self.is_bound and "remove" in self.data:
            for name in fields:
                self.fields[name].required = False

    @property
    def correction(self) -> dict[str, Any] | None:
        """As `decide_item` takes it; None removes the fact."""
        if "remove" in self.data:
            return None
        row = self.cleaned_data
        place = {name: row[name] for name in ("label", "start", "end")}
        return place | {"value": row["value"] or None, "sign": row["sign"] or None}


def _choose(field: forms.Field, choices: list[tuple[str, str]]) -> None:
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices
