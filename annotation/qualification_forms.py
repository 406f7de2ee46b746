"""Forms of the qualification round. They check what was typed; services decide what happens."""

from typing import Any

from django import forms

from annotation.access import Standing
from annotation.selectors.known_gold import Source, find_source, source_rows

MAX_PAGES = 100
MAX_SEED = 2**31 - 1
MAX_REASON = 2000


class QualificationForm(forms.Form):
    """Pages of a source, by their names or drawn."""

    source = forms.ChoiceField(label="Gold from")
    names = forms.CharField(
        required=False,
        label="Pages",
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=20_000,
        help_text="Their names, one a line. Leave empty to draw some at random.",
    )
    count = forms.IntegerField(
        required=False, label="How many to draw", initial=3, min_value=1, max_value=MAX_PAGES
    )
    seed = forms.IntegerField(
        required=False,
        initial=1,
        min_value=0,
        max_value=MAX_SEED,
        help_text="The same seed draws the same pages.",
    )

    def __init__(self, *args: Any, user: Any, standing: Standing, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user, self._campaign = user, standing.campaign
        rows = source_rows(user, standing.campaign)
        source = self.fields["source"]
        assert isinstance(source, forms.ChoiceField)
        source.choices = [
            (row.key, f"{row.title} ({row.pages} page{'' if row.pages == 1 else 's'})")
            for row in rows
        ]

    @property
    def has_sources(self) -> bool:
        source = self.fields["source"]
        assert isinstance(source, forms.ChoiceField)
        return bool(source.choices)

    def clean_source(self) -> Source:
        source = find_source(self._user, self._campaign, self.cleaned_data["source"])
        if source is None:
            raise forms.ValidationError("Choose one of the sources.")
        return source

    def clean_names(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["names"].splitlines()]
        names = [line for line in lines if line]
        if len(names) > MAX_PAGES:
            raise forms.ValidationError(f"At most {MAX_PAGES} pages at a time.")
        return names

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if "names" in data and not data["names"] and not data.get("count"):
            self.add_error("count", "Name pages, or say how many to draw.")
        data["seed"] = data.get("seed") or 0
        data["count"] = data.get("count") or 0
        return data
