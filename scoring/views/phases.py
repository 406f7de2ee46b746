"""What organisers set of a board and its phases."""

import json
from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from portal.accounts.access import UserRequest, organiser_required
from scoring.access import board_for
from scoring.forms.boards import BoardSettingsForm
from scoring.forms.phases import PhaseForm
from scoring.models import Board, Phase
from scoring.selectors.protection import warnings
from scoring.services.boards import (
    BoardRefused,
    DisclosureUnconfirmed,
    add_phase,
    edit_board,
    edit_phase,
)
from scoring.services.judging import judge_fault, known_judge


@organiser_required
def board_settings(request: UserRequest, slug: str) -> HttpResponse:
    board = board_for(request.user, slug)
    form = BoardSettingsForm(request.POST if request.method == "POST" else None, instance=board)
    if request.method == "POST" and form.is_valid():
        edit_board(board=board, changes=form.cleaned_data, actor=request.user)
        messages.success(request, "Settings saved.")
        return redirect("scoring:board-manage", board.slug)
    context = {"board": board, "form": form}
    status = 400 if form.errors else 200
    return render(request, "scoring/board_settings.html", context, status=status)


@organiser_required
def new_phase(request: UserRequest, slug: str) -> HttpResponse:
    board = board_for(request.user, slug)
    form = PhaseForm(request.POST if request.method == "POST" else None, board=board)
    if request.method == "POST" and form.is_valid():
        save = partial(add_phase, board=board, phase=form.new_phase(), actor=request.user)
        if phase := _saved(form, save):
            return _go_on(request, phase, "added")
    return _phase_page(request, board, form, None)


@organiser_required
def edit(request: UserRequest, slug: str, phase: str) -> HttpResponse:
    board = board_for(request.user, slug)
    found = get_object_or_404(board.phases.select_related("board", "release__dataset"), slug=phase)
    form = PhaseForm(
        request.POST if request.method == "POST" else None, instance=found, board=board
    )
    if request.method == "POST" and form.is_valid():
        save = partial(edit_phase, phase=found, wanted=form.new_phase(), actor=request.user)
        if saved := _saved(form, save):
            return _go_on(request, saved, "saved")
    return _phase_page(request, board, form, found)


def _saved(form: PhaseForm, save: Callable[..., Phase]) -> Phase | None:
    """The phase, or None with the reason in the form."""
    try:
        return save(confirm_disclosure=form.confirms_disclosure)
    except DisclosureUnconfirmed as refusal:
        form.add_error("confirm_disclosure", f"{refusal} To go on, tick “Make it public”.")
    except BoardRefused as refusal:
        form.add_error(None, str(refusal))
    return None


def _go_on(request: UserRequest, phase: Phase, done: str) -> HttpResponse:
    messages.success(request, f"Phase “{phase.title}” {done}.")
    _warn_of_judge(request, phase)
    warn_of(request, phase)
    return redirect("scoring:board-manage", phase.board.slug)


def warn_of(request: UserRequest, phase: Phase) -> None:
    """Says what the phase makes public, and what it tells of hidden gold."""
    for words in warnings(phase):
        messages.warning(request, f"{phase.title}: {words}")


def _phase_page(
    request: UserRequest, board: Board, form: PhaseForm, phase: Phase | None
) -> HttpResponse:
    context = {
        "board": board,
        "form": form,
        "phase": phase,
        "defaults": json.dumps(board.spec.check_options({}), ensure_ascii=False),
        "judge": known_judge(board),
        "warnings": warnings(phase) if phase else [],
    }
    status = 400 if form.errors else 200
    return render(request, "scoring/phase.html", context, status=status)


def _warn_of_judge(request: UserRequest, phase: Phase) -> None:
    if fault := judge_fault(phase.board, phase.options):
        messages.warning(request, f"Gradings of this phase will wait for their judge: {fault}")
