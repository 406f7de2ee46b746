"""Entries side by side."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from scoring.access import board_for
from scoring.selectors.compared_entries import ComparisonRefused, entry_numbers
from scoring.selectors.comparisons import comparison
from scoring.services.replicates import ask_for_replicates


@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Two to five entries of a board; asked for by htmx, only what becomes ready by and by."""
    board = board_for(request.user, slug)
    asked = request.GET.getlist("entries")
    template = "scoring/compare.html"
    try:
        page = comparison(request.user, board, entry_numbers(asked))
    except ComparisonRefused as refusal:
        # Without any entry it is the page that says how to choose some.
        context = {"board": board, "refusal": str(refusal) if asked else ""}
        return render(request, template, context, status=400 if asked else 200)
    if page.is_exact and not page.is_ready:
        ask_for_replicates(page.gradings)
    if request.headers.get("HX-Request"):
        template += "#tests"
    response = render(request, template, {"board": board, "page": page})
    response["Vary"] = "HX-Request, Cookie"
    return response
