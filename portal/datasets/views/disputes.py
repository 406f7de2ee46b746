"""Items of releases with their facts, and the disputes about them."""

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, is_organiser
from portal.accounts.emails import email_route, origin_of
from portal.datasets.access import get_dataset, may_see_item_gold, visible_releases
from portal.datasets.dispute_access import (
    get_decidable,
    get_dispute,
    get_own_dispute,
    get_release_item,
)
from portal.datasets.dispute_forms import DecisionForm, DisputeFilterForm, DisputeForm
from portal.datasets.models import Dispute, ReleaseItem
from portal.datasets.selectors.disputes import (
    dispute_list,
    dispute_page,
    fact_row,
    item_images,
    item_page,
)
from portal.datasets.services.disputes import (
    DisputeRefused,
    decide_dispute,
    raise_dispute,
    withdraw_dispute,
)
from portal.web.requests import refuse_unknown


@require_safe
def release_item(request: HttpRequest, slug: str, version: str, name: str) -> HttpResponse:
    item = get_release_item(request.user, slug, version, name)
    context = {
        "view": item_page(request.user, item, page=request.GET.get("page", "1")),
        "may_manage": is_organiser(request.user),
    }
    return render(request, "datasets/release_item.html", context)


@require_safe
def disputes(request: HttpRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    refuse_unknown(request, {*DisputeFilterForm.base_fields, "page"})
    releases = list(visible_releases(request.user, dataset))
    form = DisputeFilterForm(request.GET, releases=releases)
    form.is_valid()
    wanted = {key: form.cleaned_data.get(key) or "" for key in ("state", "release")}
    mine = bool(form.cleaned_data.get("mine"))
    found = dispute_list(
        request.user, dataset, **wanted, mine=mine, page=request.GET.get("page", "1")
    )
    kept = {key: value for key, value in (*wanted.items(), ("mine", "on" if mine else "")) if value}
    context = {
        "dataset": dataset,
        "view": found,
        "form": form,
        "state": wanted["state"],
        "query": urlencode(kept),
        "states_query": urlencode({key: kept[key] for key in kept if key != "state"}),
        "may_manage": is_organiser(request.user),
    }
    return render(request, "datasets/disputes.html", context)


@login_required
def new_dispute(request: UserRequest, slug: str, version: str, name: str) -> HttpResponse:
    """A challenge of `?fact=n`; of an item whose gold is hidden, always of it as a whole."""
    item = get_release_item(request.user, slug, version, name)
    sees_gold = may_see_item_gold(request.user, item)
    row = fact_row(item, _number(request)) if sees_gold else None
    form = DisputeForm(
        request.POST if request.method == "POST" else None,
        sees_gold=sees_gold,
    )
    if form.is_valid():
        dispute = _raise(request, item, row.n if row else None, form)
        if dispute is not None:
            news = "You get an email once it is decided." if email_route().is_sent else ""
            messages.success(request, f"Your dispute stands. {news}".strip())
            return redirect("datasets:dispute", item.release.dataset.slug, dispute.pk)
    context = {
        "form": form,
        "item": item,
        "row": row,
        "sees_gold": sees_gold,
        "images": item_images(item),
        "may_manage": is_organiser(request.user),
    }
    status = 400 if form.errors else 200
    return render(request, "datasets/dispute_new.html", context, status=status)


def _number(request: HttpRequest) -> int | None:
    written = request.GET.get("fact", "")
    return int(written) if written.isascii() and written.isdigit() and len(written) < 9 else None


def _raise(
    request: UserRequest, item: ReleaseItem, fact: int | None, form: DisputeForm
) -> Dispute | None:
    try:
        return raise_dispute(
            item=item,
            fact=fact,
            claim=form.cleaned_data["claim"],
            reason=form.cleaned_data["reason"],
            actor=request.user,
        )
    except DisputeRefused as refusal:
        field = refusal.field if refusal.field in form.fields else None
        form.add_error(field, refusal.message)
        return None


@require_safe
def dispute(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_dispute(request.user, slug, pk)
    return _show(request, found, DecisionForm())


def _show(request: HttpRequest, found: Dispute, form: DecisionForm) -> HttpResponse:
    context = {
        "view": dispute_page(request.user, found),
        "form": form,
        "may_manage": is_organiser(request.user),
    }
    status = 400 if form.errors else 200
    return render(request, "datasets/dispute.html", context, status=status)


@login_required
@require_POST
def decide(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    found, form = get_decidable(request.user, slug, pk), DecisionForm(request.POST)
    if not form.is_valid():
        return _show(request, found, form)
    try:
        decided = decide_dispute(
            dispute=found,
            accept=form.accepts(),
            answer=form.cleaned_data["answer"],
            correction=form.correction(),
            actor=request.user,
            origin=origin_of(request),
        )
    except DisputeRefused as refusal:
        form.add_error(refusal.field if refusal.field in form.fields else None, refusal.message)
        return _show(request, found, form)
    wanted = Dispute.State.ACCEPTED if form.accepts() else Dispute.State.DECLINED
    if decided.decided_by_id == request.user.pk and decided.state == wanted:
        messages.success(request, f"Dispute {pk} is {decided.state}.")
    else:
        messages.info(request, f"Dispute {pk} was {decided.state} already; that stays.")
    return redirect(reverse("datasets:dispute", args=[slug, pk]))


@login_required
@require_POST
def withdraw(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    found = withdraw_dispute(dispute=get_own_dispute(request.user, slug, pk), actor=request.user)
    if found.state == Dispute.State.WITHDRAWN:
        messages.success(request, f"Dispute {pk} is withdrawn.")
    else:
        messages.info(request, f"Dispute {pk} was {found.state} already; that stays.")
    return redirect(reverse("datasets:dispute", args=[slug, pk]))
