"""Boards: the list, a leaderboard, and what organisers do with them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from scoring.access import board_for
from scoring.forms import BoardForm, BoardStateForm
from scoring.selectors.boards import list_boards, phase_windows
from scoring.selectors.leaderboard_page import leaderboard_page
from scoring.selectors.submissions import board_submissions
from scoring.services.boards import create_board, set_board_state
from scoring.services.reported import load_reported


@require_safe
def boards(request: HttpRequest) -> HttpResponse:
    context = {"lines": list_boards(request.user), "may_manage": is_organiser(request.user)}
    return render(request, "scoring/boards.html", context)


@require_safe
def board(request: HttpRequest, slug: str) -> HttpResponse:
    page = leaderboard_page(
        request.user,
        board_for(request.user, slug),
        phase=request.GET.get("phase", ""),
        sort=request.GET.get("sort", ""),
        view=request.GET.get("view", ""),
    )
    return render(request, "scoring/board.html", {"page": page})


@organiser_required
def new_board(request: UserRequest) -> HttpResponse:
    # A release's page links here with itself as the choice.
    chosen = {"release": request.GET.get("release")}
    form = BoardForm(request.POST if request.method == "POST" else None, initial=chosen)
    if form.is_valid():
        board = create_board(**form.new_board(), phase=form.new_phase(), actor=request.user)
        load_reported(board=board, actor=request.user)
        messages.success(request, "Board created as a draft: only organisers see it.")
        return redirect(board)
    return render(request, "scoring/new_board.html", {"form": form}, status=_status(form))


@organiser_required
@require_safe
def manage(request: UserRequest, slug: str) -> HttpResponse:
    """The submissions of a board, and its state."""
    board = board_for(request.user, slug)
    context = {
        "board": board,
        "phases": phase_windows(board),
        "form": BoardStateForm(initial={"state": board.state}),
        "list": board_submissions(request.user, board, request.GET.get("page", "1")),
    }
    return render(request, "scoring/manage.html", context)


@organiser_required
@require_POST
def change_state(request: UserRequest, slug: str) -> HttpResponse:
    board, form = board_for(request.user, slug), BoardStateForm(request.POST)
    if form.is_valid():
        set_board_state(board=board, state=form.new_state(), actor=request.user)
        messages.success(request, f"“{board.title}” is now {board.get_state_display().lower()}.")
    else:
        messages.error(request, "A board is draft, open or archived.")
    return redirect(board)


def _status(form: BoardForm) -> int:
    return 400 if form.errors else 200
