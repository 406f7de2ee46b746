"""What organisers set of a board and its phases."""

import json

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from portal.accounts.access import UserRequest, organiser_required
from scoring.access import board_for
from scoring.forms import BoardSettingsForm, PhaseForm
from scoring.models import Board, Phase
from scoring.services.boards import BoardRefused, add_phase, edit_board, edit_phase
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
        phase = add_phase(board=board, phase=form.new_phase(), actor=request.user)
        messages.success(request, f"Phase “{phase.title}” added.")
        _warn_of_judge(request, phase)
        return redirect("scoring:board-manage", board.slug)
    return _phase_page(request, board, form, None)


@organiser_required
def edit(request: UserRequest, slug: str, phase: str) -> HttpResponse:
    board = board_for(request.user, slug)
    found = get_object_or_404(board.phases.select_related("board"), slug=phase)
    form = PhaseForm(
        request.POST if request.method == "POST" else None, instance=found, board=board
    )
    if request.method == "POST" and form.is_valid():
        try:
            edit_phase(phase=found, wanted=form.new_phase(), actor=request.user)
        except BoardRefused as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, f"Phase “{found.title}” saved.")
            _warn_of_judge(request, found)
            return redirect("scoring:board-manage", board.slug)
    return _phase_page(request, board, form, found)


def _phase_page(
    request: UserRequest, board: Board, form: PhaseForm, phase: Phase | None
) -> HttpResponse:
    context = {
        "board": board,
        "form": form,
        "phase": phase,
        "defaults": json.dumps(board.spec.check_options({}), ensure_ascii=False),
        "judge": known_judge(board),
    }
    status = 400 if form.errors else 200
    return render(request, "scoring/phase.html", context, status=status)


def _warn_of_judge(request: UserRequest, phase: Phase) -> None:
    if fault := judge_fault(phase.board, phase.options):
        messages.warning(request, f"Gradings of this phase will wait for their judge: {fault}")
