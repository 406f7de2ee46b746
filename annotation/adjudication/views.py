"""Pages of adjudication: the queue, a page with its cases, a single case, and validation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.access import CampaignAccess, adjudicated_campaign, adjudicated_page, case_for
from annotation.api_base import (
    campaign_page,
    choose,
    form_view,
    named,
    page_files,
    page_view,
    post_view,
    posted,
    refusals_in,
)
from annotation.doubts import case_doubts, page_doubts
from annotation.errors import MAX_WORKFLOW_REASON, InvalidSpans, Refused
from annotation.models import Campaign, CampaignDocument, Case, Decision
from annotation.spans import SIGN_CHOICES, label_css
from portal.accounts.access import UserRequest
from portal.facts.page_text import Excerpts

from . import selectors
from .selectors import case_view, page_remarks, remarks_at
from .services import (
    MAX_REASON,
    AlreadyDecided,
    decide_case,
    let_pass,
    open_doubtful_cases,
    reopen_case,
    send_back,
)
from .settling import Answer

Choice = Decision.Choice


class SpanForm(forms.Form):
    """One span of an edited decision. Empty rows are ignored."""

    start = forms.IntegerField(min_value=0)
    end = forms.IntegerField(min_value=1)
    label = forms.ChoiceField()
    value = forms.CharField(required=False, max_length=200)
    sign = forms.ChoiceField(required=False)

    def __init__(self, *args: Any, labels: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choose(self, "label", named(labels))
        choose(self, "sign", [("", "Derive from text"), *SIGN_CHOICES])

    def has_changed(self) -> bool:
        """Whether offsets were entered. A label is always selected."""
        return bool(
            self.data.get(self.add_prefix("start")) or self.data.get(self.add_prefix("end"))
        )

    @property
    def answer(self) -> Answer:
        row = self.cleaned_data
        return Answer(
            row["label"], row["start"], row["end"], row["value"] or None, row["sign"] or None
        )


SpanFormSet = forms.formset_factory(SpanForm, extra=1, max_num=50, validate_max=True)


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=MAX_REASON, help_text="Saved with the decision.")


class DecisionForm(ReasonForm):
    """A decision. `choice` is the number of a proposal (from 1) or one of Decision.Choice."""

    choice = forms.CharField(required=False)

    def __init__(self, *args: Any, case: Case, labels: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.case = case
        is_edit = self.is_bound and self.data.get("choice") == Choice.EDIT
        # The service accepts a majority decision without a reason.
        self.fields["reason"].required = self.data.get("choice") != Choice.MAJORITY
        self.spans = SpanFormSet(
            self.data if is_edit else None,
            prefix="spans",
            # Any row may be empty, not only the last one.
            form_kwargs={"labels": labels, "empty_permitted": True},
            initial=_suggested(case),
        )

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        choice = data.get("choice", "")
        data |= {"proposal": None, "spans": []}
        numbers = [str(place) for place in range(1, len(self.case.proposals) + 1)]
        if choice in numbers:
            data |= {"choice": Choice.PROPOSAL, "proposal": numbers.index(choice)}
        elif choice == Choice.EDIT:
            data["spans"] = self._edited()
        elif choice not in {Choice.MAJORITY, Choice.BOTH, Choice.NEITHER}:
            raise forms.ValidationError("Accept a proposal, reject all, or enter spans manually.")
        return data

    def _edited(self) -> list[Answer]:
        if not self.spans.is_valid():
            raise forms.ValidationError("Each span needs a start, an end and a label.")
        rows = [form.answer for form in self.spans if form.has_changed()]
        if not rows:
            raise forms.ValidationError("Add at least one span, or reject all if there is no fact.")
        return rows


def _suggested(case: Case) -> list[dict[str, Any]]:
    """The initial spans of an edit: those of the proposal with the most spans."""
    fullest = max(case.proposals, key=lambda proposal: len(proposal["spans"]))
    return [
        {"start": span["start"], "end": span["end"], "label": span["label"]}
        for span in fullest["spans"]
    ]


class CaseFilterForm(forms.Form):
    """The filter of the queue. Invalid values are ignored, so that old links still work."""

    state = forms.ChoiceField(required=False, choices=Case.State.choices, widget=forms.HiddenInput)
    kind = forms.ChoiceField(
        required=False, choices=[("", "every kind"), *Case.Kind.choices], widget=forms.HiddenInput
    )
    label = forms.ChoiceField(required=False)
    document = forms.CharField(required=False, max_length=200)
    order = forms.ChoiceField(required=False, choices=list(selectors.ORDERS.items()))

    def __init__(
        self, *args: Any, campaign: Campaign, documents: list[str] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        choose(self, "label", [("", "All labels"), *named(campaign.labels)])
        if documents is not None:
            pages = [("", "All documents"), *named(documents)]
            self.fields["document"].widget = forms.Select(choices=pages)

    @property
    def wanted(self) -> selectors.CaseFilter:
        self.is_valid()
        given = {name: value for name, value in self.cleaned_data.items() if value}
        return selectors.CaseFilter(**given)


class ValidationForm(forms.Form):
    """Sends faulty work back to annotators, who see the reason, or accepts it."""

    SEND_BACK, LET_PASS = "send_back", "let_pass"

    action = forms.ChoiceField(choices=[(SEND_BACK, "send back"), (LET_PASS, "accept")])
    assignments = forms.TypedMultipleChoiceField(
        coerce=int,
        label="Return to",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one annotator."},
    )
    reason = forms.CharField(
        max_length=MAX_WORKFLOW_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Shown to the annotators.",
    )

    def __init__(self, *args: Any, works: Sequence[selectors.FaultyWork], **kwargs: Any) -> None:
        faulty = [work.assignment for work in works if work.faults]
        kwargs["initial"] = {"assignments": faulty}
        super().__init__(*args, **kwargs)
        choose(self, "assignments", [(work.assignment, work.annotator) for work in works])
        self.fields["assignments"].required = self.data.get("action") != self.LET_PASS


PER_PAGE = 50


@page_view
def queue(request: UserRequest, slug: str) -> HttpResponse:
    access = adjudicated_campaign(request.user, slug)
    campaign = access.campaign
    form = CaseFilterForm(
        {"state": Case.State.OPEN, "order": "text"} | request.GET.dict(),
        campaign=campaign,
        documents=selectors.documents_with_cases(campaign),
    )
    wanted = form.wanted
    counts = selectors.case_counts(campaign)
    cases = selectors.filtered_cases(campaign, wanted)
    rows = cases.select_related("campaign_document__document", "decided_by")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    decidable = selectors.for_user(selectors.open_cases(campaign), request.user)
    context = {
        "own": counts[Case.State.OPEN].total() - decidable.count(),
        "open": counts[Case.State.OPEN].total(),
        "decided": counts[Case.State.DECIDED].total(),
        "kinds": [(kind, name, counts[wanted.state][kind]) for kind, name in Case.Kind.choices],
        "page": page,
        "rows": [(row, _case_url(access, row, wanted)) for row in page],
        "first": _first(request, access, wanted),
        "wanted": wanted,
        "form": form,
        "query": wanted.query,
    }
    return campaign_page(request, access, "adjudication", "adjudication/queue.html", context)


def _case_url(access: CampaignAccess, case: Case, wanted: selectors.CaseFilter) -> str:
    """The URL of the case on its page, with the filter for the cases that follow."""
    name = case.campaign_document.document.name
    return f"{selectors.page_url(access.campaign, name, wanted.over_open_cases)}#case-{case.pk}"


def _first(
    request: UserRequest, access: CampaignAccess, wanted: selectors.CaseFilter
) -> str | None:
    cases = selectors.filtered_cases(access.campaign, replace(wanted, state=Case.State.OPEN))
    first = (
        selectors.for_user(cases, request.user)
        .select_related("campaign_document__document")
        .first()
    )
    return _case_url(access, first, wanted) if first else None


@page_view
def page(request: UserRequest, slug: str, name: str) -> HttpResponse:
    access, row = adjudicated_page(request.user, slug, name=name)
    wanted = CaseFilterForm(request.GET, campaign=access.campaign).wanted
    context = {
        "access": access,
        "page": row,
        "document": row.document,
        "images": _images(access, row),
        "cases": row.cases.order_by("start"),
        "obstacle": selectors.obstacle_for(row, request.user),
        "doubts": page_doubts(row),
        "page_data": {
            "user": request.user.pk,
            "document": row.document.name,
            "narrowed": bool(wanted.kind or wanted.label),
            "urls": _page_urls(access, row, wanted),
        },
    }
    return render(request, "annotation/adjudication/page.html", context)


def _page_urls(
    access: CampaignAccess, row: CampaignDocument, wanted: selectors.CaseFilter
) -> dict[str, str]:
    """The URLs of the page's script. It appends a case's primary key, `decide` and `reopen`."""
    slug, name = access.campaign.slug, row.document.name
    query = f"?{wanted.query}" if wanted.query else ""
    return {
        "data": reverse("api:adjudication-page", args=[slug, name]),
        "query": query,
        "case": reverse("api:cases", args=[slug]),
        "reopen": reverse("api:adjudication-reopen", args=[slug, name]),
        "readings": reverse("api:adjudication-readings", args=[slug, name]),
        "html": reverse("annotation:adjudication-html", args=[slug, name]),
        "adjudication": reverse("annotation:adjudication", args=[slug]) + query,
    }


def _images(access: CampaignAccess, row: CampaignDocument) -> list[dict[str, Any]]:
    slug, name = access.campaign.slug, row.document.name
    return [
        {
            "number": image.number,
            "url": reverse("annotation:adjudication-image", args=[slug, name, image.number]),
            "width": image.width,
            "height": image.height,
        }
        for image in row.document.images.all()
    ]


page_html, page_image = page_files(lambda user, **url: adjudicated_page(user, **url)[1].document)


# --- one case, without JavaScript --------------------------------------------------------------


@form_view
def case(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    access, case = case_for(request.user, slug, pk=pk)
    form = DecisionForm(
        posted(request),
        case=case,
        labels=access.campaign.labels,
    )
    if form.is_valid():
        decided = _decide(request, access, case, form)
        if decided is not None:
            return decided
    return _case_page(request, access, case, form, ReasonForm())


def _case_page(
    request: UserRequest,
    access: CampaignAccess,
    case: Case,
    form: DecisionForm,
    reopen: ReasonForm,
) -> HttpResponse:
    content = case.campaign_document.document.content
    view = case_view(case)
    excerpts = Excerpts(content.html, content.text)
    following = selectors.next_open_case(access.campaign, case, request.user)
    context = {
        "case": case,
        "view": view,
        "obstacle": selectors.obstacle_for(case.campaign_document, request.user),
        "context": excerpts.around(case.start, case.end),
        "proposals": [
            (proposal, [_excerpt(access, excerpts, span) for span in proposal.spans])
            for proposal in view.proposals
        ],
        "remarks": remarks_at(page_remarks(case.campaign_document), case.start, case.end),
        "doubts": case_doubts(case),
        "next_open": following.pk if following else None,
        "form": form,
        "reopen_form": reopen,
    }
    return campaign_page(
        request,
        access,
        "adjudication",
        "adjudication/case.html",
        context,
        name=f"{view.document}: {view.kind_label}",
        below=True,
    )


def _excerpt(access: CampaignAccess, excerpts: Excerpts, span: Any) -> dict[str, Any]:
    around = excerpts.around(span["start"], span["end"])
    css = label_css(span["label"], access.campaign.labels)
    return around._asdict() | {"span": span, "css": css}


def _decide(
    request: UserRequest, access: CampaignAccess, case: Case, form: DecisionForm
) -> HttpResponse | None:
    """The response to a decision, or None if it failed and the form has errors."""
    try:
        decide_case(case=case, actor=request.user, **form.cleaned_data)
    except InvalidSpans as invalid:
        form.add_error(None, [error["message"] for error in invalid.errors])
        return None
    except AlreadyDecided as refusal:
        messages.warning(request, refusal.message)
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return None
    following = selectors.next_open_case(access.campaign, case, request.user)
    if following is None:
        messages.success(request, "All cases have been decided.")
        return redirect("annotation:adjudication", access.campaign.slug)
    return redirect("annotation:case", access.campaign.slug, following.pk)


@post_view
def case_reopen(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    access, case = case_for(request.user, slug, pk=pk)
    reason = ReasonForm(request.POST)
    if not reason.is_valid():
        form = DecisionForm(None, case=case, labels=access.campaign.labels)
        return _case_page(request, access, case, form, reason)
    try:
        reopen_case(case=case, reason=reason.cleaned_data["reason"], actor=request.user)
    except Refused as refusal:
        messages.warning(request, refusal.message)
    return redirect("annotation:case", slug, pk)


@post_view
def open_doubtful(request: UserRequest, slug: str) -> HttpResponse:
    access = adjudicated_campaign(request.user, slug)
    opened = open_doubtful_cases(campaign=access.campaign, actor=request.user)
    plural = "" if len(opened.cases) == 1 else "s"
    messages.success(request, f"{len(opened.cases)} case{plural} opened.")
    if opened.own:
        plural = "document" if opened.own == 1 else "documents"
        messages.warning(
            request,
            f"{opened.own} {plural} with your own labels left out. Another lead opens them.",
        )
    return redirect("annotation:adjudication" if opened.cases else "annotation:release", slug)


@form_view
def validation(request: UserRequest, slug: str) -> HttpResponse:
    """Lists the documents in validation. A POST decides about its `document`."""
    access = adjudicated_campaign(request.user, slug)
    chosen = request.POST.get("document", "")
    rows = []
    for document in selectors.faulty_documents(access.campaign):
        data = request.POST if document.name == chosen else None
        form = ValidationForm(data, works=document.works, auto_id=f"id_{document.row.pk}_%s")
        if form.is_valid() and _decide_validation(request, document, form):
            return redirect("annotation:validation", slug)
        rows.append((document, form))
    if chosen and chosen not in {document.name for document, _ in rows}:
        messages.error(request, f"{chosen} is no longer in validation.")
        return redirect("annotation:validation", slug)
    context = {"rows": rows}
    return campaign_page(request, access, "validation", "adjudication/validation.html", context)


def _decide_validation(
    request: UserRequest, document: selectors.FaultyDocument, form: ValidationForm
) -> bool:
    """Whether the decision succeeded. If not, the form has the errors."""
    reason = form.cleaned_data["reason"]
    with refusals_in(form):
        if form.cleaned_data["action"] == ValidationForm.LET_PASS:
            passed = let_pass(campaign_document=document.row, reason=reason, actor=request.user)
            messages.success(
                request, f"{document.name} was accepted. Its stage is now {passed.stage}."
            )
        else:
            works = form.cleaned_data["assignments"]
            send_back(
                campaign_document=document.row, assignments=works, reason=reason, actor=request.user
            )
            messages.success(request, f"{document.name} was returned to its annotators.")
    return not form.errors
