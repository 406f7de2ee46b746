"""Personal data, near duplicates, required content: starting the work, deciding on results."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.access import get_dataset, get_duplicate
from portal.datasets.curation_forms import (
    ContentForm,
    DecideDuplicateForm,
    DecideFindingsForm,
    DuplicateSearchForm,
    FindingFilterForm,
)
from portal.datasets.document_forms import as_parameters
from portal.datasets.models import DatasetTask, Document, NearDuplicate
from portal.datasets.selectors.document_filters import every_document
from portal.datasets.selectors.near_duplicates import duplicates_page, pair_page
from portal.datasets.selectors.personal_data import findings_page, last_task
from portal.datasets.services.dataset_tasks import start_task
from portal.datasets.services.duplicates import decide_duplicate
from portal.datasets.services.personal_data import MaskingError, decide_findings

from .table import filter_form

Kind = DatasetTask.Kind


@organiser_required
def personal_data(request: UserRequest, slug: str) -> HttpResponse:
    """What was found; posted, the decision on the ticked findings."""
    dataset = get_dataset(request.user, slug)
    form = DecideFindingsForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            decided = decide_findings(
                dataset=dataset,
                keys=form.cleaned_data["finding"],
                decision=form.cleaned_data["decision"],
                reason=form.cleaned_data["reason"],
                actor=request.user,
            )
        except MaskingError as error:
            form.add_error(None, str(error))
        else:
            number = len(decided)
            what = f"{number:,} finding{'s' * (number != 1)}"
            messages.success(request, f"{what} {form.cleaned_data['decision']}.")
            return redirect(request.get_full_path())
    search = FindingFilterForm(request.GET)
    wanted = search.wanted()
    context = {
        "dataset": dataset,
        "form": form,
        "search": search,
        "query": urlencode({name: value for name, value in wanted.items() if value}),
        "is_filtered": any(wanted.values()),
        "ticked": set(form.data.getlist("finding")) if isinstance(form.data, QueryDict) else set(),
        "view": findings_page(dataset, **wanted, page=request.GET.get("page", "1")),
    }
    status = 400 if form.errors else 200
    return render(request, "datasets/personal_data.html", context, status=status)


@organiser_required
@require_POST
def scan(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    return redirect(start_task(dataset=dataset, kind=Kind.PII, actor=request.user))


@organiser_required
def duplicates(request: UserRequest, slug: str) -> HttpResponse:
    """The pairs; posted, a new search begins."""
    dataset = get_dataset(request.user, slug)
    form = DuplicateSearchForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        options = form.cleaned_data
        task = start_task(
            dataset=dataset, kind=Kind.DUPLICATES, options=options, actor=request.user
        )
        return redirect(task)
    decision = request.GET.get("decision", "")
    if decision not in NearDuplicate.Decision.values:
        decision = ""
    context = {
        "dataset": dataset,
        "form": form,
        "decision": decision,
        "decisions": NearDuplicate.Decision.choices,
        "query": urlencode({"decision": decision}) if decision else "",
        "view": duplicates_page(dataset, decision=decision, page=request.GET.get("page", "1")),
    }
    status = 400 if form.errors else 200
    return render(request, "datasets/duplicates.html", context, status=status)


@organiser_required
def duplicate(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Two documents side by side; posted, which of them stays, and on to the next pair."""
    pair = get_duplicate(slug, pk)
    form = DecideDuplicateForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        decided = decide_duplicate(
            pair=pair, decision=form.cleaned_data["decision"], actor=request.user
        )
        messages.success(
            request,
            f"{decided.first.name} and {decided.second.name}: {decided.get_decision_display()}.",
        )
        following = pair_page(decided).following
        if following is not None:
            return redirect("datasets:duplicate", slug, following.pk)
        return redirect("datasets:duplicates", slug)
    context: dict[str, Any] = {"view": pair_page(pair), "dataset": pair.second.dataset}
    status = 400 if form.errors else 200
    return render(request, "datasets/duplicate.html", context, status=status)


@organiser_required
def content(request: UserRequest, slug: str) -> HttpResponse:
    """Which content is asked of which pages; posted, the check begins."""
    dataset = get_dataset(request.user, slug)
    is_posted = request.method == "POST"
    given = QueryDict(request.POST.get("filter", "")) if is_posted else request.GET
    wanted = filter_form(request, dataset, given).wanted()
    form = ContentForm(request.POST if is_posted else None)
    if is_posted and form.is_valid():
        options = {
            "required": form.cleaned_data["required"],
            "hold": form.cleaned_data["action"] == "hold",
            "filter": wanted.as_json(),
        }
        task = start_task(dataset=dataset, kind=Kind.CONTENT, options=options, actor=request.user)
        return redirect(task)
    pages = every_document(dataset, wanted).filter(
        kind=Document.Kind.PAGE, state=Document.State.ACTIVE
    )
    context = {
        "dataset": dataset,
        "form": form,
        "count": pages.count(),
        "is_filtered": wanted.is_set,
        "filter_query": as_parameters(wanted).urlencode(),
        "last": last_task(dataset, Kind.CONTENT),
    }
    status = 400 if form.errors else 200
    return render(request, "datasets/content.html", context, status=status)
