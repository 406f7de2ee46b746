"""Pages of results: items of a submission, the chart of their scores, comparisons of entries."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_safe

from portal.datasets.responses import sandboxed_html_response
from portal.web.requests import refuse_unknown
from scoring.access import board_for, submission_for
from scoring.grading.selectors import finished_grading
from scoring.leaderboard.pictures import drawn_picture
from scoring.leaderboard.services import ask_for_replicates
from scoring.leaderboard.views import asked_size, chart_response, known_form
from scoring.models.boards import choose_phase, phase_windows

from .comparisons import comparison
from .fact_pairs import (
    FIRST,
    PER_PAGE,
    SECOND,
    differing_facts,
    fact_counts,
    list_query,
    may_compare_facts,
    noun_for,
)
from .facts import FactQuery
from .item_lists import ItemQuery, score_chart
from .items import item_page, rendered_item
from .selection import ComparisonRefused, entry_numbers, selection_query
from .training_dates import training_dates


@require_safe
def item(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    found = submission_for(request.user, pk)
    page = item_page(
        request.user,
        found,
        name,
        wanted=request.GET.get("grading", ""),
        asked=asked_items(request),
        which=FactQuery(*(request.GET.get(name, "") for name in ("facts", "fact", "page"))),
    )
    return render(request, "scoring/results/item.html", {"page": page})


@require_safe
def rendered(request: HttpRequest, pk: int, name: str, side: str) -> HttpResponse:
    """Gold or prediction of an item as a separate page, for a sandboxed frame."""
    found = submission_for(request.user, pk)
    wanted, fact = (request.GET.get(name, "") for name in ("grading", "fact"))
    html = rendered_item(request.user, found, name, side, wanted=wanted, fact=fact)
    return sandboxed_html_response(html)


def asked_items(request: HttpRequest) -> ItemQuery:
    asked = {name: request.GET.get(name, "") for name in ("order", "show", "part", "error", "q")}
    return ItemQuery.parse(**asked)


@require_safe
def score_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The distribution of a submission's item scores; 404 if individual items are hidden."""
    known = known_form(form)
    refuse_unknown(request, {"grading", "size"})
    found = submission_for(request.user, pk)
    grading = finished_grading(request.user, found, request.GET.get("grading", ""))
    chart, size = score_chart(request.user, found, grading), asked_size(request)
    name = f"submission-{found.pk}-{chart.key}"
    response = chart_response(chart, known, size, name, drawn_picture)
    patch_vary_headers(response, ["Cookie"])
    patch_cache_control(response, private=True, no_cache=True)
    return response


@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Compare two to five entries of a board. For htmx, return only the part that is still being
    computed."""
    board = board_for(request.user, slug)
    asked = request.GET.getlist("entries")
    template = "scoring/results/compare.html"
    try:
        page = comparison(request.user, board, entry_numbers(asked))
    except ComparisonRefused as refusal:
        # Without entries, show how to choose some.
        selection = selection_query(board, asked)
        context = {"board": board, "refusal": str(refusal) if asked else "", "selection": selection}
        return render(request, template, context, status=400 if asked else 200)
    if page.is_exact and not page.is_ready:
        ask_for_replicates(page.gradings)
    if request.headers.get("HX-Request"):
        template += "#tests"
    may_compare = page.is_exact and may_compare_facts(request.user, page.gradings)
    noun = noun_for(page.gradings[0]) if may_compare else ""
    context = {"board": board, "page": page, "noun": noun}
    response = render(request, template, context)
    response["Vary"] = "HX-Request, Cookie"
    return response


@require_safe
def compare_facts(request: HttpRequest, slug: str) -> HttpResponse:
    """The facts that only one of two entries has right; 404 if the reader may not see them."""
    board = board_for(request.user, slug)
    try:
        numbers = entry_numbers(request.GET.getlist("entries"))
        both = differing_facts(request.user, board, numbers)
    except ComparisonRefused as refusal:
        context = {"board": board, "refusal": str(refusal)}
        return render(request, "scoring/results/compare.html", context, status=400)
    right = SECOND if request.GET.get("right") == SECOND else FIRST
    kind = request.GET.get("type", "")
    kind = kind if kind in both.types else ""
    facts = Paginator(both.chosen(right, kind), PER_PAGE).get_page(request.GET.get("page", "1"))
    context = {
        "board": board,
        "noun": both.noun,
        "entries": both.entries,
        "right": both.entries[right == SECOND],
        "wrong": both.entries[right == FIRST],
        "counts": fact_counts(both, (right, kind)),
        "facts": facts,
        "lines": both.lines(list(facts)),
        "cut": both.cut,
        "query": list_query(both.entries, right, kind),
        "compared_query": list_query(both.entries),
    }
    return render(request, "scoring/results/compare_facts.html", context)


@require_safe
def training(request: HttpRequest, slug: str) -> HttpResponse:
    """Scores before and after the training dates of the systems, for one phase."""
    board = board_for(request.user, slug)
    phase = choose_phase(phase_windows(board), request.GET.get("phase", ""))
    context = {"board": board, "found": training_dates(request.user, board, phase)}
    return render(request, "scoring/results/training_dates.html", context)
