"""Grading a board again: organisers start, watch and cancel it; everybody reads what it changed."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, organiser_required
from scoring.access import board_for
from scoring.forms.regrades import RegradeForm
from scoring.selectors.change_log import change_log
from scoring.selectors.regrade_plans import RegradeRefused, regrade_plan
from scoring.selectors.regrades import board_regrades, regrade_page
from scoring.services.regrades import cancel_regrade, start_regrade


@require_safe
def changes(request: HttpRequest, slug: str) -> HttpResponse:
    board = board_for(request.user, slug)
    log = change_log(request.user, board, request.GET.get("page", "1"))
    return render(request, "scoring/changes.html", {"board": board, "log": log})


@organiser_required
def start(request: UserRequest, slug: str) -> HttpResponse:
    """Asks what is to be graded again, shows what that means, and starts it when confirmed."""
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
    return render(request, "scoring/regrade_start.html", context, status=status)


@organiser_required
@require_safe
def regrade(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """How far it is; asked for by htmx, only the part that changes."""
    page = regrade_page(board_for(request.user, slug), pk)
    template = "scoring/regrade.html"
    if request.headers.get("HX-Request"):
        template += "#progress"
    response = render(request, template, {"page": page})
    response["Vary"] = "HX-Request, Cookie"
    return response


@organiser_required
@require_POST
def cancel(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    found = get_object_or_404(board_regrades(board_for(request.user, slug)), pk=pk)
    try:
        cancel_regrade(regrade=found, actor=request.user)
        messages.success(request, "Cancelled. The board is as it was.")
    except RegradeRefused as refusal:
        messages.warning(request, str(refusal))
    return redirect(found)
