"""Boards: the list, a leaderboard, and what organisers do with them."""

from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from portal.datasets.file_responses import TextFile, file_response
from portal.web.conditional import conditional
from scoring.access import board_for
from scoring.files import upload_response
from scoring.forms.boards import BoardForm, BoardStateForm
from scoring.forms.filters import RowFilterForm
from scoring.models.boards import choose_phase, phase_windows
from scoring.selectors.boards import list_boards
from scoring.selectors.examples import example_file
from scoring.selectors.leaderboard_files import leaderboard_file
from scoring.selectors.leaderboard_latex import leaderboard_latex_file
from scoring.selectors.leaderboard_page import leaderboard_page, part_for
from scoring.selectors.leaderboards import Leaderboard, leaderboard
from scoring.selectors.likeness import board_likenesses
from scoring.selectors.protection import all_warnings, disclosures
from scoring.selectors.regrades import board_regrades
from scoring.selectors.stamps import stamped_board
from scoring.selectors.submissions import board_submissions
from scoring.selectors.task_trees import task_tree_page
from scoring.services.boards import (
    DisclosureUnconfirmed,
    create_board,
    set_board_state,
)
from scoring.services.reported import load_reported

from .phases import warn_of

REGRADES_SHOWN = 5


@require_safe
def boards(request: HttpRequest) -> HttpResponse:
    context = {"lines": list_boards(request.user), "may_manage": is_organiser(request.user)}
    return render(request, "scoring/boards.html", context)


@require_safe
def board(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Readers without an account get an ETag; what others see has more of their own in it."""
    stamped = stamped_board(request.user, slug)
    form = RowFilterForm(request.GET)
    asked = {name: request.GET.get(name, "") for name in ("phase", "sort", "view", "part")}
    filtered = {name: request.GET.getlist(name) for name in form.fields}
    stamp = stamped.stamp(request.user, {**asked, **filtered})

    def page() -> HttpResponse:
        shown = leaderboard_page(
            request.user,
            stamped.board,
            wanted=form.wanted(),
            windows=stamped.windows,
            stamp=stamp,
            **asked,
        )
        link = request.build_absolute_uri(f"{request.path}?{shown.link_query}")
        context = {"page": shown, "form": form, "link": link}
        return render(request, "scoring/board.html", context)

    if request.user.is_authenticated or not stamp:
        return page()
    response = conditional(request, stamp, page)
    patch_vary_headers(response, ["Cookie"])
    patch_cache_control(response, private=True, no_cache=True)
    return response


@require_safe
def leaderboard_table(request: HttpRequest, slug: str) -> HttpResponse:
    """The table of the page as CSV."""
    return _table_file(request, slug, leaderboard_file)


@require_safe
def leaderboard_latex(request: HttpRequest, slug: str) -> HttpResponse:
    """The table of the page as LaTeX; with its intervals if they are asked for."""
    with_intervals = "intervals" in request.GET
    return _table_file(
        request, slug, partial(leaderboard_latex_file, with_intervals=with_intervals)
    )


def _table_file(
    request: HttpRequest, slug: str, make: Callable[[Leaderboard], TextFile]
) -> HttpResponse:
    """A filter that cannot be understood is refused: a file does not say what was left out."""
    board, form = board_for(request.user, slug), RowFilterForm(request.GET)
    if not form.is_valid():
        told = "".join(f"{name}: {' '.join(each)}\n" for name, each in form.messages.items())
        return HttpResponse(told, status=400, content_type="text/plain; charset=utf-8")
    phase = choose_phase(phase_windows(board), request.GET.get("phase", ""))
    table = leaderboard(
        board,
        phase,
        request.GET.get("sort", ""),
        view=request.GET.get("view", ""),
        part=part_for(request.user, phase, request.GET.get("part", "")),
        wanted=form.wanted(),
    )
    return file_response(make(table))


@require_safe
def tasks(request: HttpRequest, slug: str) -> HttpResponse:
    """The benchmark's task tree, with examples."""
    page = task_tree_page(board_for(request.user, slug))
    return render(request, "scoring/tasks.html", {"page": page})


@require_safe
def example(request: HttpRequest, slug: str) -> FileResponse:
    """A sample submission's file, to try the board with."""
    found = example_file(board_for(request.user, slug))
    if found is None:
        raise Http404("This board has no file to try it with.")
    return upload_response(found.submission, name=found.name)


@organiser_required
def new_board(request: UserRequest) -> HttpResponse:
    # A release's page links here with itself as the choice.
    chosen = {"release": request.GET.get("release")}
    form = BoardForm(request.POST if request.method == "POST" else None, initial=chosen)
    if form.is_valid():
        board = create_board(**form.new_board(), phase=form.new_phase(), actor=request.user)
        load_reported(board=board, actor=request.user)
        messages.success(request, "Board created as a draft: only organisers see it.")
        for phase in board.phases.select_related("release__dataset"):
            warn_of(request, phase)
        return redirect(board)
    return render(request, "scoring/new_board.html", {"form": form}, status=_status(form))


@organiser_required
@require_safe
def manage(request: UserRequest, slug: str) -> HttpResponse:
    """The submissions of a board, and its state."""
    board = board_for(request.user, slug)
    windows = phase_windows(board)
    phases = [each.phase for each in windows]
    context = {
        "board": board,
        "phases": windows,
        "form": BoardStateForm(initial={"state": board.state}),
        "warnings": all_warnings(phases),
        "disclosures": disclosures(phases) if board.is_draft else [],
        "regrades": board_regrades(board)[:REGRADES_SHOWN],
        "list": board_submissions(request.user, board, request.GET.get("page", "1")),
        "alike": board_likenesses(board, request.GET.get("alike", "1")),
    }
    return render(request, "scoring/manage.html", context)


@organiser_required
@require_POST
def change_state(request: UserRequest, slug: str) -> HttpResponse:
    board, form = board_for(request.user, slug), BoardStateForm(request.POST)
    if not form.is_valid():
        messages.error(request, "A board is draft, open or archived.")
        return redirect(board)
    try:
        set_board_state(
            board=board,
            state=form.new_state(),
            actor=request.user,
            confirm_disclosure=form.cleaned_data["confirm_disclosure"],
        )
    except DisclosureUnconfirmed as refusal:
        messages.error(request, f"{refusal} To go on, tick “Make this public”.")
        return redirect("scoring:board-manage", board.slug)
    messages.success(request, f"“{board.title}” is now {board.get_state_display().lower()}.")
    return redirect(board)


def _status(form: BoardForm) -> int:
    return 400 if form.errors else 200
