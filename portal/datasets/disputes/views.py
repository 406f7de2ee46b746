"""Pages of release items with their facts, and of disputes."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest
from portal.accounts.emails import email_route, origin_of
from portal.datasets.access import (
    get_dataset,
    get_decidable,
    get_dispute,
    get_own_dispute,
    get_release_item,
    may_see_item_gold,
    visible_disputes,
    visible_releases,
)
from portal.datasets.documents.selectors import PER_PAGE, document_prompt
from portal.datasets.models import Dispute, Release
from portal.datasets.releases.corrections import ADD, CHANGE, REMOVE
from portal.web.queries import count_by
from portal.web.refusals import ShowRefusals, errors_in, form_page, post_action
from portal.web.requests import refuse_unknown

from .gold_view import gold_json, gold_parts
from .selectors import (
    dispute_page,
    dispute_rows,
    fact_row,
    fact_rows,
    filter_disputes,
    item_images,
)
from .services import (
    CLAIM_LENGTH,
    REASON_LENGTH,
    AlreadyDecided,
    WantedCorrection,
    decide_dispute,
    raise_dispute,
    withdraw_dispute,
)

FACTS_PER_PAGE = 100


class DisputeForm(forms.Form):
    """A dispute of a fact, or of an item with hidden facts."""

    claim = forms.CharField(
        max_length=CLAIM_LENGTH,
        label="Correct fact",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    reason = forms.CharField(
        max_length=REASON_LENGTH,
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Where is it in the document, and why is it correct?",
    )

    def __init__(self, *args: Any, sees_gold: bool, has_facts: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not has_facts:
            self.fields["claim"].label = "Correct gold"
            self.fields["reason"].help_text = "Why is it correct?"
        if not sees_gold:
            self.fields["claim"].label = "Problem"
            self.fields["claim"].help_text = "For example: the image is unreadable."
            self.fields["reason"].help_text = "Why is the item or its gold wrong?"


class DecisionForm(forms.Form):
    """A decision with an answer to the user who raised the dispute."""

    answer = forms.CharField(
        max_length=REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Sent by email to the user who raised the dispute.",
    )
    decision = forms.ChoiceField(
        choices=[("accept", "Accept"), ("decline", "Decline")], widget=forms.HiddenInput
    )

    act = forms.ChoiceField(
        required=False,
        label="Correction",
        choices=[
            ("", "Use the claimed value"),
            (CHANGE, "Change the fact"),
            (REMOVE, "Remove the fact"),
            (ADD, "Add a fact"),
        ],
        help_text="Applied if the next release is frozen from the newest one.",
    )
    type = forms.CharField(required=False, max_length=64, label="Label")
    value = forms.CharField(required=False, max_length=CLAIM_LENGTH, label="Text in the document")
    start = forms.IntegerField(
        required=False,
        min_value=0,
        label="Start offset",
        help_text="Required if the text occurs more than once in the document.",
    )

    def accepts(self) -> bool:
        return bool(self.cleaned_data["decision"] == "accept")

    def correction(self) -> WantedCorrection | None:
        data = self.cleaned_data
        if not data["act"]:
            return None
        return WantedCorrection(data["act"], data["type"], data["value"], data["start"])


class DisputeFilterForm(forms.Form):
    """Filters of the list. Unknown values are ignored."""

    state = forms.ChoiceField(
        required=False, choices=[("", "All"), *Dispute.State.choices], widget=forms.HiddenInput
    )
    release = forms.ChoiceField(required=False)
    mine = forms.BooleanField(required=False, label="My disputes only")

    def __init__(self, *args: Any, releases: list[Release], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        release = self.fields["release"]
        assert isinstance(release, forms.ChoiceField)
        release.choices = [("", "All releases"), *((r.version, r.version) for r in releases)]


@require_safe
def release_item(request: HttpRequest, slug: str, version: str, name: str) -> HttpResponse:
    item = get_release_item(request.user, slug, version, name)
    dataset, gold = item.release.dataset, may_see_item_gold(request.user, item)
    disputes = list(visible_disputes(request.user, dataset).filter(item=item))
    pages = Paginator(item.facts if gold else [], FACTS_PER_PAGE)
    page = pages.get_page(request.GET.get("page"))
    is_line = gold and not item.release.has_pages
    context = {
        "dataset": dataset,
        "item": item,
        "gold": gold,
        "prompt": document_prompt(item.document) if item.document else "",
        "images": item_images(item),
        "facts": fact_rows(item, list(page), disputes),
        "page": page,
        "parts": gold_parts(item.gold) if is_line else [],
        "line": gold_json(item.gold) if is_line else "",
        "disputes": dispute_rows(request.user, dataset, disputes),
        "may_dispute": dataset.derived_from_id is None,
    }
    return render(request, "datasets/disputes/release_item.html", context)


@require_safe
def disputes(request: HttpRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    refuse_unknown(request, {*DisputeFilterForm.base_fields, "page"})
    releases = list(visible_releases(request.user, dataset))
    form = DisputeFilterForm(request.GET, releases=releases)
    form.is_valid()
    wanted = {key: form.cleaned_data.get(key) or "" for key in ("state", "release")}
    mine = bool(form.cleaned_data.get("mine"))
    disputes = filter_disputes(request.user, dataset, release=wanted["release"], mine=mine)
    counts = count_by(disputes, "state")
    if wanted["state"]:
        disputes = disputes.filter(state=wanted["state"])
    page = Paginator(disputes, PER_PAGE).get_page(request.GET.get("page"))
    query = {
        key: value for key, value in (*wanted.items(), ("mine", "on" if mine else "")) if value
    }
    context = {
        "dataset": dataset,
        "form": form,
        "total": sum(counts.values()),
        "states": [(*choice, counts.get(choice[0], 0)) for choice in Dispute.State.choices],
        "page": page,
        "rows": dispute_rows(request.user, dataset, list(page)),
        "state": wanted["state"],
        "query": urlencode(query),
        "states_query": urlencode({key: query[key] for key in query if key != "state"}),
    }
    return render(request, "datasets/disputes/disputes.html", context)


@login_required
def new_dispute(request: UserRequest, slug: str, version: str, name: str) -> HttpResponse:
    """Dispute the fact `?fact=n`, or the whole item if its gold is hidden."""
    item = get_release_item(request.user, slug, version, name)
    sees_gold = may_see_item_gold(request.user, item)
    row = fact_row(item, _number(request)) if sees_gold else None
    form = DisputeForm(
        request.POST if request.method == "POST" else None,
        sees_gold=sees_gold,
        has_facts=item.release.has_pages,
    )
    if form.is_valid():
        with errors_in(form):
            fact, actor = row.n if row else None, request.user
            dispute = raise_dispute(item=item, fact=fact, **form.cleaned_data, actor=actor)
            news = "You will get an email once it is decided." if email_route().is_sent else ""
            messages.success(request, f"Dispute raised. {news}".strip())
            return redirect("datasets:dispute", item.release.dataset.slug, dispute.pk)
    return form_page(
        request,
        "datasets/disputes/dispute_new.html",
        form,
        item=item,
        row=row,
        sees_gold=sees_gold,
        images=item_images(item),
        dataset=item.release.dataset,
    )


def _number(request: HttpRequest) -> int | None:
    written = request.GET.get("fact", "")
    return int(written) if written.isascii() and written.isdigit() and len(written) < 9 else None


@require_safe
def dispute(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    dispute = get_dispute(request.user, slug, pk)
    return _show(request, dispute, DecisionForm())


def _show(request: HttpRequest, dispute: Dispute, form: DecisionForm) -> HttpResponse:
    view, dataset = dispute_page(request.user, dispute), dispute.item.release.dataset
    return form_page(request, "datasets/disputes/dispute.html", form, view=view, dataset=dataset)


@login_required
@require_POST
def decide(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    dispute, form = get_decidable(request.user, slug, pk), DecisionForm(request.POST)
    if form.is_valid():
        # The page of a decided dispute has no form for the message.
        with errors_in(form), ShowRefusals(request, AlreadyDecided):
            decide_dispute(
                dispute=dispute,
                accept=form.accepts(),
                answer=form.cleaned_data["answer"],
                correction=form.correction(),
                actor=request.user,
                origin=origin_of(request),
            )
            done = "accepted" if form.accepts() else "declined"
            messages.success(request, f"Dispute {pk} is {done}.")
        if not form.errors:
            return redirect("datasets:dispute", slug, pk)
    return _show(request, dispute, form)


@login_required
@post_action("datasets:dispute", "slug", "pk")
def withdraw(request: UserRequest, slug: str, pk: int) -> str:
    withdraw_dispute(dispute=get_own_dispute(request.user, slug, pk), actor=request.user)
    return f"Dispute {pk} is withdrawn."
