"""Pages about the judge: public figures, reviews by experts, and management."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.accounts.access import UserRequest, organiser_required
from portal.accounts.models import User
from portal.datasets.models import PageImage
from portal.datasets.responses import image_response, sandboxed_html_response
from portal.web.refusals import post_action
from scoring.access import board_for
from scoring.judging.runs import cancel_run, runs_of, start_judge_run
from scoring.judging.services import JudgingRefused, known_judge
from scoring.models import Board, ExpertReview, JudgeCase, JudgeRun, JudgeSample, Phase, Submission
from scoring.web import warnings_of

from .cases import (
    add_expert,
    case_html,
    case_page,
    case_to_review,
    close_sample,
    draw_sample,
    expert_cases,
    gold_facts,
    images_of,
    is_expert,
    next_case,
    readable_case,
    readable_cases,
    remove_expert,
    save_opinion,
    save_review,
    submit_review,
)
from .selectors import (
    Reliability,
    disagreements,
    reliability,
    samples_of,
    shown_samples,
)
from .submissions import judged_submissions

RIGHT, WRONG = "right", "wrong"


class ExpertForm(forms.Form):
    email = forms.EmailField(label="Email", help_text="The expert must already have an account.")

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        self.user = User.objects.filter(email__iexact=email, is_active=True).first()
        if self.user is None:
            raise ValidationError("There is no account with this email address.")
        return email


class SampleForm(forms.Form):
    phase = forms.ModelChoiceField(queryset=Phase.objects.none(), empty_label=None)
    percent = forms.IntegerField(
        min_value=1,
        max_value=100,
        initial=2,
        label="Sample size (%)",
        help_text="A sample always has at least ten predictions.",
    )

    def __init__(self, *args: Any, board: Board, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        phase = self.fields["phase"]
        assert isinstance(phase, forms.ModelChoiceField)
        phase.queryset = Phase.objects.filter(board=board)


class RunForm(forms.Form):
    submission = forms.ModelChoiceField(queryset=Submission.objects.none(), empty_label="Select…")
    budget = forms.FloatField(
        required=False,
        min_value=0,
        help_text="The run stops when the budget is used up. Leave empty for no limit.",
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


class OpinionForm(forms.Form):
    """An expert's opinion of a judge's verdict."""

    version = forms.CharField(max_length=200, widget=forms.HiddenInput)
    decision = forms.ChoiceField(choices=[(RIGHT, RIGHT), (WRONG, WRONG)])
    reasoning = forms.ChoiceField(choices=[(RIGHT, RIGHT), (WRONG, WRONG)])
    comment = forms.CharField(required=False, max_length=2_000)

    def said(self) -> dict[str, Any]:
        """Keyword arguments of `save_opinion`."""
        rights = {key: self.cleaned_data[key] == RIGHT for key in ("decision", "reasoning")}
        return {**self.cleaned_data, **rights}


class ReviewForm(forms.Form):
    """An expert's review of a page: `fact-N` is right or wrong, `wrong-I` counts the wrong facts of
    the page's type I. All fields are optional, because it is saved as a draft first."""

    structure = forms.CharField(
        required=False,
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Which headings and tables the prediction preserves or loses, and whether the "
        "reading order is correct.",
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
                required=False, min_value=0, max_value=9_999, label=f"Wrong facts: {name}"
            )

    def said(self, *, rest_right: bool = False) -> dict[str, Any]:
        """Keyword arguments of `save_review`; with `rest_right`, undecided facts are right."""
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


@require_safe
def judge(request: HttpRequest, slug: str) -> HttpResponse:
    """The reliability of the judge; public once the phase shows its scores."""
    board = board_for(request.user, slug)
    samples = shown_samples(request.user, board)
    wanted = request.GET.get("sample", "")
    sample = next((candidate for candidate in samples if str(candidate.pk) == wanted), None)
    sample = sample or next(iter(samples), None)
    figures = reliability(sample, request.GET.get("judge", "")) if sample else None
    context = {
        "board": board,
        "samples": samples,
        "found": figures,
        "is_expert": is_expert(request.user, board),
        "cases": _open_cases(request, board, figures) if figures else [],
        "lines": judged_submissions(request.user, sample.phase, figures.judge)
        if sample and figures
        else [],
    }
    return render(request, "scoring/reliability/judge.html", context)


def _open_cases(request: HttpRequest, board: Board, figures: Reliability) -> list[JudgeCase]:
    """Cases with differing decisions that the user may see."""
    if not request.user.is_authenticated:
        return []
    readable = set(readable_cases(request.user, board).values_list("pk", flat=True))
    return [case for case in disagreements(figures) if case.pk in readable]


@login_required
@require_safe
def cases(request: UserRequest, slug: str) -> HttpResponse:
    """The pages of an expert."""
    board = _expert_board(request, slug)
    samples = [
        (sample, expert_cases(request.user, sample))
        for sample in samples_of(board)
        if sample.is_open
    ]
    return render(
        request, "scoring/reliability/judge_cases.html", {"board": board, "samples": samples}
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def review(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """The review of one page; POST saves a draft, or submits it with “submit”."""
    board = _expert_board(request, slug)
    case = case_to_review(request.user, board, pk)
    form = ReviewForm(request.POST if request.method == "POST" else None, case=case)
    if form.is_valid():
        act = request.POST.get("act", "")
        try:
            said = form.said(rest_right=act == "rest")
            save_review(case=case, expert=request.user, **said)
            if act != "submit":
                messages.success(request, "Saved.")
                return redirect("scoring:judge-review", slug, pk)
            submit_review(case=case, expert=request.user)
            messages.success(request, "Review submitted.")
            return redirect(case)
        except JudgingRefused as refusal:
            messages.warning(request, str(refusal))
            return redirect("scoring:judge-review", slug, pk)
    return _review_page(request, board, case, form)


def _review_page(
    request: UserRequest, board: Board, case: JudgeCase, form: ReviewForm
) -> HttpResponse:
    """The page with the draft; a review that can no longer change leads to the verdicts."""
    draft = ExpertReview.objects.filter(case=case, expert=request.user).first()
    if draft and (draft.submitted_at or not case.sample.is_open):
        return redirect(case)
    draft = draft or ExpertReview()
    context = {
        "board": board,
        "case": case,
        "total": case.sample.cases.count(),
        "next": next_case(request.user, case),
        "images": images_of(case),
        "facts": [(fact, draft.says(fact.n)) for fact in gold_facts(case)],
        "counts": [(name, draft.wrong.get(name)) for name in form.types],
        "draft": draft,
        "form": form,
    }
    status = 400 if form.errors else 200
    return render(request, "scoring/reliability/judge_review.html", context, status=status)


@login_required
@require_safe
def case(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """The decisions of judge, matcher and experts on one page."""
    board = board_for(request.user, slug)
    case = readable_case(request.user, board, pk)
    page = case_page(case, request.GET.get("judge", ""))
    context = {"board": board, "page": page, "opinion": page.opinion_form(request.user)}
    return render(request, "scoring/reliability/judge_case.html", context)


@login_required
@require_POST
def opinion(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Saves an expert's opinion of a verdict."""
    board = _expert_board(request, slug)
    case = readable_case(request.user, board, pk)
    form = OpinionForm(request.POST)
    if not form.is_valid():
        messages.warning(request, "Rate both the verdict and the reasoning.")
        return redirect(case)
    with warnings_of(request, JudgingRefused):
        save_opinion(case=case, expert=request.user, **form.said())
        messages.success(request, "Rating saved.")
    return redirect(case)


@login_required
@require_safe
def rendered(request: UserRequest, slug: str, pk: int, side: str) -> HttpResponse:
    """Gold with numbered facts, or the prediction, for a sandboxed frame."""
    return sandboxed_html_response(case_html(_case(request, slug, pk), side))


@login_required
@require_safe
def image(request: UserRequest, slug: str, pk: int, number: int) -> HttpResponseBase:
    document = _case(request, slug, pk).item.document
    return image_response(get_object_or_404(PageImage, document=document, number=number), bare=True)


def _case(request: UserRequest, slug: str, pk: int) -> JudgeCase:
    """A case that the user reviews or may see."""
    board = board_for(request.user, slug)
    if is_expert(request.user, board):
        return case_to_review(request.user, board, pk)
    return readable_case(request.user, board, pk)


def _expert_board(request: UserRequest, slug: str) -> Board:
    board = board_for(request.user, slug)
    if not is_expert(request.user, board):
        raise PermissionDenied("Only judge experts of this board can open this page.")
    return board


@organiser_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage(request: UserRequest, slug: str) -> HttpResponse:
    """The experts, samples and runs of a board; POST adds an expert."""
    board = board_for(request.user, slug)
    form = ExpertForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and form.user is not None:
        add_expert(board=board, user=form.user, actor=request.user)
        messages.success(request, f"{form.user} is now a judge expert of this board.")
        return redirect("scoring:judge-manage", slug)
    return _manage_page(request, board, form=form)


def _manage_page(request: UserRequest, board: Board, **forms: Form) -> HttpResponse:
    """The page with the submitted forms; the others are empty."""
    context = {
        "form": ExpertForm(),
        "sampling": SampleForm(board=board),
        "running": RunForm(board=board),
        **forms,
        "board": board,
        "experts": board.judge_experts.select_related("user"),
        "samples": samples_of(board),
        "runs": runs_of(board),
        "judge": known_judge(board),
    }
    status = 400 if any(form.errors for form in forms.values()) else 200
    return render(request, "scoring/reliability/judge_manage.html", context, status=status)


_change = post_action("scoring:judge-manage", "slug", refusals=(JudgingRefused,))


@organiser_required
@_change
def sample(request: UserRequest, slug: str) -> str | HttpResponse:
    """Draws a sample."""
    board = board_for(request.user, slug)
    sampling = SampleForm(request.POST, board=board)
    if not sampling.is_valid():
        return _manage_page(request, board, sampling=sampling)
    drawn = draw_sample(actor=request.user, **sampling.cleaned_data)
    return f"Sample of {drawn.cases.count()} pages drawn."


@organiser_required
@_change
def close(request: UserRequest, slug: str, pk: int) -> str:
    sample = get_object_or_404(JudgeSample, pk=pk, phase__board=board_for(request.user, slug))
    close_sample(sample=sample, actor=request.user)
    return "Sample closed."


@organiser_required
@_change
def remove(request: UserRequest, slug: str, pk: int) -> str:
    experts = board_for(request.user, slug).judge_experts.select_related("user", "board")
    expert = get_object_or_404(experts, pk=pk)
    remove_expert(expert=expert, actor=request.user)
    return f"{expert.user} is no longer a judge expert of this board."


@organiser_required
@_change
def run(request: UserRequest, slug: str) -> str | HttpResponse:
    """Starts a judge run."""
    board = board_for(request.user, slug)
    running = RunForm(request.POST, board=board)
    if not running.is_valid():
        return _manage_page(request, board, running=running)
    begun = start_judge_run(actor=request.user, **running.cleaned_data)
    return f"Run of {begun.model} on “{begun.submission.name}” queued."


@organiser_required
@_change
def cancel(request: UserRequest, slug: str, pk: int) -> str:
    run = get_object_or_404(JudgeRun, pk=pk, submission__phase__board=board_for(request.user, slug))
    cancel_run(run=run, actor=request.user)
    return "Run cancelled. It stops after the pages in progress."
