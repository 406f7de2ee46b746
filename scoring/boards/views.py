"""Pages of boards: the list, a board with its leaderboard, its tasks, and its settings."""

import json
from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from portal.datasets.models import Release
from portal.web.refusals import form_page
from portal.web.requests import conditional, refuse_unknown
from scoring.access import board_for
from scoring.judging.services import judge_fault, known_judge
from scoring.leaderboard.filters import RowFilterForm
from scoring.leaderboard.selectors import stamped_board
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Phase
from scoring.web import upload_response

from .forms import (
    BoardForm,
    BoardSettingsForm,
    BoardStateForm,
    PhaseForm,
)
from .page import OF_TABLE, board_rules, leaderboard_page, measured
from .protection import warnings
from .selectors import board_card, boards_for_list, example_file, open_phase, task_examples
from .services import (
    BoardRefused,
    DisclosureUnconfirmed,
    add_phase,
    create_board,
    edit_board,
    edit_phase,
    set_board_state,
)
from .take_part import take_part_page


@organiser_required
def board_settings(request: UserRequest, slug: str) -> HttpResponse:
    board = board_for(request.user, slug)
    form = BoardSettingsForm(request.POST if request.method == "POST" else None, instance=board)
    if request.method == "POST" and form.is_valid():
        edit_board(board=board, changes=form.cleaned_data, actor=request.user)
        messages.success(request, "Settings saved.")
        return redirect("scoring:board-manage", board.slug)
    return form_page(request, "scoring/boards/board_settings.html", form, board=board)


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


_CONFIRM = "To continue, select “Make this information public”."


def _saved(form: PhaseForm, save: Callable[..., Phase]) -> Phase | None:
    """The phase, or None with the reason in the form."""
    try:
        return save(confirm_disclosure=form.confirms_disclosure)
    except DisclosureUnconfirmed as refusal:
        form.add_error("confirm_disclosure", f"{refusal} {_CONFIRM}")
    except BoardRefused as refusal:
        form.add_error(None, str(refusal))
    return None


def _go_on(request: UserRequest, phase: Phase, done: str) -> HttpResponse:
    messages.success(request, f"Phase “{phase.title}” {done}.")
    _warn_of_judge(request, phase)
    warn_of(request, phase)
    return redirect("scoring:board-manage", phase.board.slug)


def warn_of(request: UserRequest, phase: Phase) -> None:
    """Adds warnings about what the phase makes public or reveals of hidden gold."""
    for words in warnings(phase):
        messages.warning(request, f"{phase.title}: {words}")


def _phase_page(
    request: UserRequest, board: Board, form: PhaseForm, phase: Phase | None
) -> HttpResponse:
    return form_page(
        request,
        "scoring/boards/phase.html",
        form,
        board=board,
        phase=phase,
        defaults=json.dumps(board.spec.check_options({}), ensure_ascii=False),
        judge=known_judge(board),
        warnings=warnings(phase) if phase else [],
    )


def _warn_of_judge(request: UserRequest, phase: Phase) -> None:
    if fault := judge_fault(phase.board, phase.options):
        messages.warning(
            request,
            f"Submissions to this phase cannot be graded until the judge is available: {fault}",
        )


@require_safe
def boards(request: HttpRequest) -> HttpResponse:
    listed = []
    for board in boards_for_list(request.user):
        windows = board.windows
        listed.append((board, windows, measured(windows[-1].phase) if windows else ""))
    context = {"boards": listed, "may_manage": is_organiser(request.user)}
    return render(request, "scoring/boards/boards.html", context)


@require_safe
def board(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Readers without an account get an ETag. Other pages depend on the user."""
    stamped = stamped_board(request.user, slug)
    form = RowFilterForm(request.GET)
    asked = {name: request.GET.get(name, "") for name in ("page", "others", *OF_TABLE)}
    filtered = {name: request.GET.getlist(name) for name in form.fields}
    stamp = stamped.stamp(request.user, {**asked, **filtered})
    table_stamp = stamped.stamp(request.user, {name: asked[name] for name in OF_TABLE})

    def page() -> HttpResponse:
        shown = leaderboard_page(
            request.user,
            stamped.board,
            wanted=form.wanted(),
            windows=stamped.windows,
            stamp=stamp,
            table_stamp=table_stamp,
            **asked,
        )
        link = request.build_absolute_uri(f"{request.path}?{shown.link_query}")
        context = {"page": shown, "form": form, "link": link}
        return render(request, "scoring/boards/board.html", context)

    if request.user.is_authenticated or not stamp:
        return page()
    response = conditional(request, stamp, page)
    patch_vary_headers(response, ["Cookie"])
    patch_cache_control(response, private=True, no_cache=True)
    return response


@require_safe
def benchmark(request: HttpRequest, slug: str) -> HttpResponse:
    """How the board measures, and the benchmark's card with sources, licence and citation."""
    board = board_for(request.user, slug)
    title, card = board_card(board)
    rules = board_rules(request.user, board, request.GET.get("phase", ""))
    context = {"board": board, "title": title, "card": card, "rules": rules}
    return render(request, "scoring/boards/benchmark.html", context)


@require_safe
def take_part(request: HttpRequest, slug: str) -> HttpResponse:
    """The data, format, commands and limits of a board, and who sees what."""
    board = board_for(request.user, slug)
    site = request.build_absolute_uri("/").rstrip("/")
    context = {"board": board, "page": take_part_page(request.user, board), "site": site}
    return render(request, "scoring/boards/take_part.html", context)


@require_safe
def tasks(request: HttpRequest, slug: str) -> HttpResponse:
    """The benchmark's task tree, with examples."""
    board = board_for(request.user, slug)
    tree = board.spec.task_tree
    if tree is None:
        raise Http404("This benchmark has no task tree.")
    phase = open_phase(board)
    examples = task_examples(phase, tree) if phase else {}
    by_key = {task.key: task for task in tree.tasks}
    context = {
        "board": board,
        "work": tree.work,
        "phase": phase,
        "stages": [(stage, [by_key[key] for key in stage.tasks]) for stage in tree.stages],
        "tasks": [
            (
                task,
                [stage for stage in tree.stages if task.key in stage.tasks],
                examples.get(task.key),
            )
            for task in tree.tasks
        ],
    }
    return render(request, "scoring/boards/tasks.html", context)


@require_safe
def example(request: HttpRequest, slug: str) -> FileResponse:
    """A sample submission's file, to try the board with."""
    refuse_unknown(request, ())
    found = example_file(board_for(request.user, slug))
    if found is None:
        raise Http404("This board has no example file.")
    return upload_response(found.submission, name=found.name)


@organiser_required
def new_board(request: UserRequest) -> HttpResponse:
    # A release's page links here with itself as the choice.
    wanted = request.GET.get("release", "")
    release = Release.objects.filter(pk=wanted).first() if wanted.isdecimal() else None
    chosen = {"release": release, "benchmark": release.benchmark} if release else {}
    form = BoardForm(request.POST if request.method == "POST" else None, initial=chosen)
    if form.is_valid():
        board = create_board(**form.new_board(), phase=form.new_phase(), actor=request.user)
        load_reported(board=board, actor=request.user)
        messages.success(request, "Board created as a draft. Only organisers can see it.")
        for phase in board.phases.select_related("release__dataset"):
            warn_of(request, phase)
        return redirect(board)
    return form_page(request, "scoring/boards/new_board.html", form)


@organiser_required
@require_POST
def change_state(request: UserRequest, slug: str) -> HttpResponse:
    board, form = board_for(request.user, slug), BoardStateForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose draft, open or archived.")
        return redirect(board)
    try:
        set_board_state(
            board=board,
            state=form.new_state(),
            actor=request.user,
            confirm_disclosure=form.cleaned_data["confirm_disclosure"],
        )
    except DisclosureUnconfirmed as refusal:
        messages.error(request, f"{refusal} {_CONFIRM}")
        return redirect("scoring:board-manage", board.slug)
    messages.success(request, f"“{board.title}” is now {board.get_state_display().lower()}.")
    return redirect(board)
