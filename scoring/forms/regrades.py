"""The form of a re-grade: what is graded again, and on which gold."""

from typing import Any

from django import forms

from portal.datasets.models import Release
from scoring.models import Board, Phase


class RegradeForm(forms.Form):
    phase = forms.ChoiceField(required=False, label="What is graded again")
    release = forms.ModelChoiceField(
        queryset=Release.objects.none(),
        required=False,
        label="On the gold of",
        empty_label="the same release as now",
        help_text="Another release of the same dataset, with the same items.",
    )

    def __init__(self, *args: Any, board: Board, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.phases = {
            phase.slug: phase for phase in board.phases.select_related("release__dataset")
        }
        phase, release = self.fields["phase"], self.fields["release"]
        assert isinstance(phase, forms.ChoiceField)
        assert isinstance(release, forms.ModelChoiceField)
        titles = [(each.slug, f"phase “{each.title}”") for each in self.phases.values()]
        phase.choices = [("", "the whole board"), *titles]
        datasets = {each.release.dataset_id for each in self.phases.values()}
        release.queryset = (
            Release.objects.filter(dataset__in=datasets, benchmark=board.benchmark)
            .select_related("dataset")
            .order_by("dataset", "-pk")
        )

    def chosen(self) -> dict[str, Any]:
        """As keyword arguments of plan and start."""
        phase: Phase | None = self.phases.get(self.cleaned_data["phase"])
        return {"phase": phase, "release": self.cleaned_data["release"]}
