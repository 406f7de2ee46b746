"""Pages of rows by organisers and of human runs."""

import json

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, is_organiser, organiser_required
from portal.datasets.releases.gold import empty_line_of
from portal.datasets.responses import TextFile, file_response
from portal.web.refusals import form_page
from portal.web.requests import refuse_unknown
from scoring.access import board_for
from scoring.models import Board
from scoring.submissions.selectors import card_lines
from scoring.submissions.uploads import SubmissionRefused

from .forms import HumanRunForm, RowForm, SampleForm, TableForm
from .selectors import (
    ItemSample,
    entered_row,
    entered_rows,
    figure_lines,
    row_bibtex,
    row_for,
    same_items,
)
from .services import add_row, check_run, create_human_run, edit_row, load_rows, withdraw_row
from .tables import TableFault, check_table, empty_table

_PAGES = "scoring/reported"


@organiser_required
def rows(request: UserRequest, slug: str) -> HttpResponse:
    """The entered rows; on POST, loads a CSV file or lists all its faults."""
    board = board_for(request.user, slug)
    form = TableForm(request.POST or None, request.FILES or None)
    faults: tuple[TableFault, ...] = ()
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            file = form.cleaned_data["file"]
            table = check_table(board, file, file.name)
            if not table.faults:
                loaded = load_rows(board=board, rows=table.rows, actor=request.user)
                messages.success(request, f"{len(loaded)} rows loaded.")
                return redirect("scoring:rows", board.slug)
            faults = table.faults
    context = {"board": board, "form": form, "faults": faults, "rows": entered_rows(board)}
    return render(request, f"{_PAGES}/rows.html", context, status=status)


@organiser_required
@require_safe
def rows_template(request: UserRequest, slug: str) -> HttpResponse:
    """An empty table with the board's columns."""
    refuse_unknown(request, ())
    return file_response(empty_table(board_for(request.user, slug)))


@organiser_required
def new_row(request: UserRequest, slug: str) -> HttpResponse:
    board = board_for(request.user, slug)
    form = RowForm(request.POST if request.method == "POST" else None, board=board)
    if request.method == "POST" and form.is_valid():
        entry = add_row(board=board, row=form.row(), actor=request.user)
        messages.success(request, f"Row “{entry.name}” added.")
        return redirect("scoring:row", board.slug, entry.pk)
    return form_page(request, f"{_PAGES}/row_form.html", form, board=board, entry=None)


@organiser_required
def change_row(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    board = board_for(request.user, slug)
    entry = entered_row(board, pk)
    posted = request.POST if request.method == "POST" else None
    form = RowForm(posted, board=board, instance=entry)
    if request.method == "POST" and form.is_valid():
        edit_row(entry=entry, row=form.row(), actor=request.user)
        messages.success(request, f"Row “{form.cleaned_data['name']}” saved.")
        return redirect("scoring:row", board.slug, pk)
    return form_page(request, f"{_PAGES}/row_form.html", form, board=board, entry=entry)


@organiser_required
@require_POST
def withdraw(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    board = board_for(request.user, slug)
    entry = entered_row(board, pk)
    withdraw_row(entry=entry, actor=request.user)
    messages.success(request, f"Row “{entry.name}” withdrawn.")
    return redirect("scoring:rows", board.slug)


@require_safe
def row(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A reported or human row; for a human run, with the systems on the same items."""
    entry = row_for(request.user, slug, pk)
    context = {
        "board": entry.board,
        "entry": entry,
        "card": card_lines(entry),
        "figures": figure_lines(entry),
        "same": same_items(request.user, entry),
        "may_edit": entry.is_entered and is_organiser(request.user),
    }
    return render(request, f"{_PAGES}/row.html", context)


@require_safe
def citation(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """How to cite the row, as BibTeX."""
    refuse_unknown(request, ())
    entry = row_for(request.user, slug, pk)
    url = request.build_absolute_uri(request.path.removesuffix("cite.bib"))
    return file_response(row_bibtex(entry, url=url, accessed=timezone.now().date()))


@organiser_required
def human_run(request: UserRequest, slug: str) -> HttpResponse:
    """Draws a sample of items; on POST, takes the answers of people to it."""
    board = board_for(request.user, slug)
    if request.method == "POST":
        return _take_run(request, board)
    asked = request.GET if "phase" in request.GET else None
    draw = SampleForm(asked, board=board)
    sample = draw.sample() if asked and draw.is_valid() else None
    form = HumanRunForm(board=board, initial=draw.cleaned_data) if sample else None
    status = 400 if draw.errors else 200
    return _run_page(request, board, draw, sample, form, status=status)


def _take_run(request: UserRequest, board: Board) -> HttpResponse:
    form = HumanRunForm(request.POST, request.FILES, board=board)
    draw = SampleForm(request.POST, board=board)
    if not draw.is_valid():
        return _run_page(request, board, draw, status=400)
    sample = draw.sample()
    if not form.is_valid():
        return _run_page(request, board, draw, sample, form, status=400)
    file = form.cleaned_data["file"]
    checked = check_run(sample=sample, file=file, filename=file.name, user=request.user)
    if not checked.can_be_taken(accept_missing=True):
        return _run_page(request, board, draw, sample, form, checked=checked, status=422)
    try:
        submission = create_human_run(
            sample=sample,
            owner=request.user,
            card=form.card(),
            file=file,
            filename=file.name,
            checked=checked,
        )
    except SubmissionRefused as refusal:
        form.add_error(None, str(refusal))
        return _run_page(request, board, draw, sample, form, status=409)
    return redirect(submission)


def _run_page(
    request: UserRequest,
    board: Board,
    draw: SampleForm,
    sample: ItemSample | None = None,
    form: HumanRunForm | None = None,
    *,
    checked: object = None,
    status: int,
) -> HttpResponse:
    context = {"board": board, "draw": draw, "sample": sample, "form": form, "checked": checked}
    return render(request, f"{_PAGES}/human_run.html", context, status=status)


@organiser_required
@require_safe
def sample_file(request: UserRequest, slug: str) -> HttpResponse:
    """The drawn items as an empty submission: one line per item, to be filled in."""
    refuse_unknown(request, SampleForm.base_fields)
    board = board_for(request.user, slug)
    draw = SampleForm(request.GET, board=board)
    if not draw.is_valid():
        return _run_page(request, board, draw, status=400)
    sample, empty = draw.sample(), empty_line_of(board.benchmark)
    lines = (json.dumps(empty(name), ensure_ascii=False) for name in sample.names)
    name = f"{board.slug}-{sample.phase.slug}-{len(sample.names)}-items-seed-{sample.seed}.jsonl"
    return file_response(TextFile(name, "application/jsonl", "".join(f"{x}\n" for x in lines)))
