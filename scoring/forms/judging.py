"""Forms of the human check of a judge."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from portal.accounts.models import User
from scoring.models import Board, JudgeCase, Phase, Submission
from scoring.selectors.judge_cases import gold_facts

RIGHT, WRONG = "right", "wrong"


class ExpertForm(forms.Form):
    email = forms.EmailField(
        label="E-mail", help_text="Of an account. Experts see the gold of the pages they are given."
    )

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        self.user = User.objects.filter(email__iexact=email, is_active=True).first()
        if self.user is None:
            raise ValidationError("Nobody has an account with this address.")
        return email


class SampleForm(forms.Form):
    phase = forms.ModelChoiceField(queryset=Phase.objects.none(), empty_label=None)
    percent = forms.IntegerField(
        min_value=1,
        max_value=100,
        initial=2,
        label="Share of the pages, in %",
        help_text="But at least ten pages, if there are as many.",
    )

    def __init__(self, *args: Any, board: Board, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        phase = self.fields["phase"]
        assert isinstance(phase, forms.ModelChoiceField)
        phase.queryset = Phase.objects.filter(board=board)


class RunForm(forms.Form):
    submission = forms.ModelChoiceField(queryset=Submission.objects.none())
    budget = forms.FloatField(
        required=False,
        min_value=0,
        help_text="In the currency of the prices. No call is made that could go beyond it; pages "
        "left over have no verdict. Empty: no limit.",
    )

    def __init__(self, *args: Any, board: Board, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        submission = self.fields["submission"]
        assert isinstance(submission, forms.ModelChoiceField)
        submission.queryset = (
            Submission.objects.filter(phase__board=board, publication=Submission.Publication.PUBLIC)
            .select_related("phase__board", "phase__release")
            .order_by("name", "pk")
        )


class ReviewForm(forms.Form):
    """What an expert says of a page: `fact-N` is right or wrong, `wrong-I` counts the wrong facts
    of the page's type I. Everything may be empty, as it is kept as a draft first."""

    structure = forms.CharField(
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Headings, order, tables: what of the page's structure is kept, what is lost.",
    )
    comment = forms.CharField(
        required=False, max_length=2_000, widget=forms.Textarea(attrs={"rows": 3})
    )

    def __init__(self, *args: Any, case: JudgeCase, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._facts = gold_facts(case)
        self.types = list(dict.fromkeys(fact.type for fact in self._facts))
        for fact in self._facts:
            self.fields[f"fact-{fact.n}"] = forms.ChoiceField(
                required=False, choices=[(RIGHT, RIGHT), (WRONG, WRONG)], label=f"Fact {fact.n}"
            )
        for place, name in enumerate(self.types):
            self.fields[f"wrong-{place}"] = forms.IntegerField(
                required=False, min_value=0, max_value=9_999, label=f"Wrong {name}"
            )

    def said(self, *, rest_right: bool = False) -> dict[str, Any]:
        """As keyword arguments of `save_review`; `rest_right`: what is not decided is right."""
        return {
            "facts": dict(self._decided(rest_right=rest_right)),
            "wrong": {
                name: count
                for place, name in enumerate(self.types)
                if (count := self.cleaned_data[f"wrong-{place}"]) is not None
            },
            "structure": self.cleaned_data["structure"],
            "comment": self.cleaned_data["comment"],
        }

    def _decided(self, *, rest_right: bool) -> Iterable[tuple[int, bool]]:
        for fact in self._facts:
            word = self.cleaned_data[f"fact-{fact.n}"] or (RIGHT if rest_right else "")
            if word:
                yield fact.n, word == RIGHT
