"""Pages of re-grades, for organisers, and the public change log."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.models import Release
from scoring.access import board_for
from scoring.models import Board, Phase
from scoring.web import warnings_of

from .regrade_changes import (
    RegradeRefused,
    board_regrades,
    done_regrades,
    log_entries,
    regrade_page,
    regrade_plan,
)
from .regrades import cancel_regrade, start_regrade

PER_PAGE = 10


class RegradeForm(forms.Form):
    phase = forms.ChoiceField(required=False, label="Phases")
    release = forms.ModelChoiceField(
        queryset=Release.objects.none(),
        required=False,
        label="Gold",
        empty_label="The current release of each phase",
        help_text="To use corrected gold, select another release with the same items.",
    )

    def __init__(self, *args: Any, board: Board, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.phases = {
            phase.slug: phase for phase in board.phases.select_related("release__dataset")
        }
        phase, release = self.fields["phase"], self.fields["release"]
        assert isinstance(phase, forms.ChoiceField)
        assert isinstance(release, forms.ModelChoiceField)
        titles = [(each.slug, f"Phase “{each.title}”") for each in self.phases.values()]
        phase.choices = [("", "All phases"), *titles]
        datasets = {each.release.dataset_id for each in self.phases.values()}
        release.queryset = (
            Release.objects.filter(dataset__in=datasets, benchmark=board.benchmark)
            .select_related("dataset")
            .order_by("dataset", "-pk")
        )

    def chosen(self) -> dict[str, Any]:
        """Keyword arguments of `regrade_plan` and `start_regrade`."""
        phase: Phase | None = self.phases.get(self.cleaned_data["phase"])
        return {"phase": phase, "release": self.cleaned_data["release"]}


@require_safe
def changes(request: HttpRequest, slug: str) -> HttpResponse:
    board = board_for(request.user, slug)
    regrades = Paginator(done_regrades(board), PER_PAGE).get_page(request.GET.get("page", "1"))
    entries = log_entries(request.user, board, regrades)
    context = {"board": board, "regrades": regrades, "entries": entries}
    return render(request, "scoring/grading/changes.html", context)


@organiser_required
def start(request: UserRequest, slug: str) -> HttpResponse:
    """Shows the form, then the plan for confirmation; on POST, starts the re-grade."""
    board = board_for(request.user, slug)
    sent = request.POST if request.method == "POST" else request.GET
    form = RegradeForm(sent if request.method == "POST" or "phase" in sent else None, board=board)
    plan, refusal = None, ""
    if form.is_valid():
        try:
            if request.method == "POST":
                return redirect(start_regrade(board=board, actor=request.user, **form.chosen()))
            plan = regrade_plan(board, **form.chosen())
        except RegradeRefused as refused:
            refusal = str(refused)
    context = {"board": board, "form": form, "plan": plan, "refusal": refusal}
    status = 409 if refusal else 400 if form.errors else 200
    return render(request, "scoring/grading/regrade_start.html", context, status=status)


@organiser_required
@require_safe
def regrade(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """The progress; for htmx, only the part that changes."""
    page = regrade_page(board_for(request.user, slug), pk)
    template = "scoring/grading/regrade.html"
    if request.headers.get("HX-Request"):
        template += "#progress"
    response = render(request, template, {"page": page, "board": page.regrade.board})
    response["Vary"] = "HX-Request, Cookie"
    return response


@organiser_required
@require_POST
def cancel(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    found = get_object_or_404(board_regrades(board_for(request.user, slug)), pk=pk)
    with warnings_of(request, RegradeRefused):
        cancel_regrade(regrade=found, actor=request.user)
        messages.success(request, "Re-grade cancelled. The leaderboard is unchanged.")
    return redirect(found)
