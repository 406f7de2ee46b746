"""The form of a new stress variant."""

from typing import Any

from django import forms

from .models import Dataset, Release, Selection
from .services.variants import LARGEST_SEED, VariantSpec, any_seed


class VariantForm(forms.Form):
    """What to derive; the service checks it against the dataset."""

    kind = forms.ChoiceField(label="Simulated capture", help_text="What happens to every image.")
    strength = forms.FloatField(
        min_value=0.01,
        max_value=1,
        initial=0.5,
        help_text="Above 0 up to 1: higher is worse. Rotations have none.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="The same seed gives the same images. This one was drawn for you.",
    )
    selection = forms.ModelChoiceField(
        Selection.objects.none(),
        required=False,
        label="Documents",
        empty_label="All that have an image",
    )
    names = forms.CharField(
        required=False,
        label="Only these documents",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Ids, one a line. Left empty: those chosen above.",
    )
    release = forms.ModelChoiceField(
        Release.objects.none(),
        required=False,
        label="Carry over the gold of",
        empty_label="No release",
        help_text="Its gold becomes a release of the variant, so that boards can be made on it.",
    )
    slug = forms.SlugField(
        required=False,
        max_length=80,
        label="Short name",
        help_text="Left empty, it tells the dataset, the capture, its strength in % and the seed.",
    )

    def __init__(self, *args: Any, base: Dataset, **kwargs: Any) -> None:
        from portal.datasets.stress import CAPTURES

        super().__init__(*args, **kwargs)
        kind, fields = self.fields["kind"], self.fields
        assert isinstance(kind, forms.ChoiceField)
        kind.choices = [
            (capture.key, f"{capture.title}: {capture.help[:1].lower()}{capture.help[1:-1]}")
            for capture in CAPTURES.values()
        ]
        releases = base.releases.order_by("-frozen_at", "-id")
        self._choose_from(fields["selection"], base.selections.all())
        self._choose_from(fields["release"], releases)
        fields["seed"].initial = any_seed
        fields["release"].initial = releases.first()

    def spec(self) -> VariantSpec:
        """What a valid form asks for."""
        chosen = self.cleaned_data
        return VariantSpec(
            kind=chosen["kind"],
            strength=chosen["strength"],
            seed=chosen["seed"],
            names=self._names(),
            release=chosen["release"],
        )

    def _names(self) -> list[str] | None:
        written = [line.strip() for line in self.cleaned_data["names"].splitlines()]
        if names := [name for name in written if name]:
            return names
        if selection := self.cleaned_data["selection"]:
            return list(selection.documents.values_list("name", flat=True))
        return None

    @staticmethod
    def _choose_from(field: forms.Field, rows: Any) -> None:
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = rows


class CarryForm(forms.Form):
    """A release of the base to be carried over."""

    release = forms.ModelChoiceField(Release.objects.none())

    def __init__(self, *args: Any, base: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        VariantForm._choose_from(self.fields["release"], base.releases.all())
