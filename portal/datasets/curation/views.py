"""Pages of curation: personal data, near duplicates, required content and selections."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.views.decorators.http import require_POST

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.access import get_dataset, get_duplicate, get_selection
from portal.datasets.dataset_tasks import last_task, start_task
from portal.datasets.documents.content_rules import CONTENTS
from portal.datasets.documents.forms import MAX_REASON, capitalised, checked_filter
from portal.datasets.documents.selectors import CONTENT_LABELS, PER_PAGE
from portal.datasets.documents.table import DocumentFilter, every_document
from portal.datasets.models import (
    Dataset,
    DatasetTask,
    Document,
    NearDuplicate,
    PiiFinding,
    Selection,
)
from portal.files.tables import csv_text
from portal.web.queries import count_by
from portal.web.refusals import errors_in, form_page
from portal.web.requests import refuse_unknown

from .draws import new_seed
from .personal_data import MaskingError, decide_findings, find_findings, finding_rows
from .services import (
    DUPLICATE_THRESHOLD,
    LEAST_THRESHOLD,
    MAX_SEED,
    MAX_TITLE,
    STRATA,
    DrawSpec,
    check_selection,
    create_selection,
    decide_duplicate,
    draw,
    drawable,
    find_pairs,
    following_pair,
    selection_lines,
    selection_rows,
    strata_rows,
)


class FindingFilterForm(forms.Form):
    """Filters of the findings. Unknown values are ignored."""

    kind = forms.ChoiceField(
        required=False,
        label="Kind",
        choices=[("", "All kinds"), *capitalised(PiiFinding.Kind.choices)],
    )
    decision = forms.ChoiceField(
        required=False,
        label="Decision",
        choices=[("", "All decisions"), *capitalised(PiiFinding.Decision.choices)],
    )

    def wanted(self) -> dict[str, str]:
        self.is_valid()
        return {name: self.cleaned_data.get(name, "") for name in ("kind", "decision")}


class DecideFindingsForm(forms.Form):
    """A decision on the selected findings, with a reason."""

    finding = forms.TypedMultipleChoiceField(coerce=int, label="Findings")
    decision = forms.ChoiceField(
        choices=[("kept", "keep"), ("masked", "mask")],
        error_messages={"required": "Choose whether to keep or mask the findings."},
    )
    reason = forms.CharField(
        max_length=MAX_REASON,
        error_messages={"required": "Enter a reason for the decision."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["finding"]
        assert isinstance(field, forms.TypedMultipleChoiceField)
        # The service checks that they are findings of this dataset.
        ticked = [value for value in _listed(self.data, "finding") if value.isdecimal()]
        field.choices = [(value, value) for value in ticked if len(value) < 19]
        field.error_messages["required"] = "Select at least one finding."


def _listed(data: Any, name: str) -> list[str]:
    return list(data.getlist(name)) if hasattr(data, "getlist") else []


class DuplicateSearchForm(forms.Form):
    threshold = forms.FloatField(
        initial=DUPLICATE_THRESHOLD,
        min_value=LEAST_THRESHOLD,
        max_value=1,
        label="Minimum similarity",
        help_text=f"From {LEAST_THRESHOLD} to 1. A number counts as much as five words.",
        widget=forms.NumberInput(attrs={"step": "0.01"}),
    )


class DecideDuplicateForm(forms.Form):
    decision = forms.ChoiceField(choices=NearDuplicate.Decision.choices)


class ContentForm(forms.Form):
    """The required content, and whether pages without it are held back."""

    required = forms.MultipleChoiceField(
        label="Required content",
        choices=capitalised(CONTENT_LABELS.items()),
        initial=list(CONTENTS),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one kind of content."},
    )
    action = forms.ChoiceField(
        label="Action",
        choices=[
            ("report", "List incomplete documents"),
            ("hold", "List incomplete documents and hold them back"),
        ],
        initial="report",
        widget=forms.RadioSelect,
    )


class SelectionForm(forms.Form):
    """The parameters of a selection. `title` is required only to save it."""

    strata = forms.MultipleChoiceField(
        label="Strata",
        choices=capitalised(STRATA.items()),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one field."},
    )
    how = forms.ChoiceField(
        label="Sample size",
        choices=[
            ("size", "A total, divided in proportion to the size of the strata"),
            ("evenly", "A total, divided evenly among the strata"),
            ("per_stratum", "The same number from each stratum"),
        ],
        widget=forms.RadioSelect,
    )
    number = forms.IntegerField(label="Number", min_value=1, max_value=10_000_000)
    seed = forms.IntegerField(
        min_value=0,
        max_value=MAX_SEED,
        help_text="The same seed draws the same documents.",
    )
    title = forms.CharField(
        required=False, max_length=MAX_TITLE, help_text="Required when you save the selection."
    )

    def __init__(self, data: Any = None, *, keeps: bool = False) -> None:
        initial = {"strata": ["doc_type"], "how": "size", "number": 100, "seed": new_seed()}
        super().__init__(data, initial=initial)
        self.fields["title"].required = keeps

    def spec(self, wanted: DocumentFilter) -> DrawSpec | None:
        """Return the spec, or None after adding the errors to the form."""
        if not self.is_valid():
            return None
        how, size = self.cleaned_data["how"], self.cleaned_data["number"]
        number: dict[str, Any] = {how: size}
        if how == "evenly":
            number = {"size": size, "evenly": True}
        try:
            return DrawSpec(strata=tuple(self.cleaned_data["strata"]), wanted=wanted, **number)
        except ValidationError as error:
            self.add_error(None, ValidationError(error.messages))
            return None


Kind = DatasetTask.Kind


@organiser_required
def personal_data(request: UserRequest, slug: str) -> HttpResponse:
    """List the findings; POST decides on the selected ones."""
    dataset = get_dataset(request.user, slug)
    form = DecideFindingsForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with errors_in(form, MaskingError):
            decided = decide_findings(
                dataset=dataset,
                keys=form.cleaned_data["finding"],
                decision=form.cleaned_data["decision"],
                reason=form.cleaned_data["reason"],
                actor=request.user,
            )
            decision = form.cleaned_data["decision"]
            messages.success(request, f"{len(decided):,} finding{pluralize(decided)} {decision}.")
            if decision == PiiFinding.Decision.MASKED:
                messages.info(
                    request,
                    "The masked documents have no page images. Render them on the Images page"
                    " before you release the documents.",
                )
            return redirect(request.get_full_path())
    search = FindingFilterForm(request.GET)
    wanted = search.wanted()
    pages = Paginator(find_findings(dataset, **wanted), PER_PAGE)
    page = pages.get_page(request.GET.get("page"))
    undecided = find_findings(dataset, decision=PiiFinding.Decision.OPEN).order_by()
    return form_page(
        request,
        "datasets/curation/personal_data.html",
        form,
        dataset=dataset,
        search=search,
        query=urlencode({name: value for name, value in wanted.items() if value}),
        is_filtered=any(wanted.values()),
        ticked=set(form.data.getlist("finding")) if isinstance(form.data, QueryDict) else set(),
        counts=count_by(find_findings(dataset, kind=wanted["kind"]), "decision"),
        undecided_documents=undecided.values("document").distinct().count(),
        page=page,
        rows=finding_rows(dataset, page),
        last_scan=last_task(dataset, Kind.PII),
    )


@organiser_required
@require_POST
def scan(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    return redirect(start_task(dataset=dataset, kind=Kind.PII, actor=request.user))


@organiser_required
def duplicates(request: UserRequest, slug: str) -> HttpResponse:
    """List the pairs; POST starts a new search."""
    dataset = get_dataset(request.user, slug)
    form = DuplicateSearchForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        kind, options = Kind.DUPLICATES, form.cleaned_data
        return redirect(start_task(dataset=dataset, kind=kind, options=options, actor=request.user))
    decision = request.GET.get("decision", "")
    if decision not in NearDuplicate.Decision.values:
        decision = ""
    pairs = Paginator(find_pairs(dataset, decision=decision), PER_PAGE)
    return form_page(
        request,
        "datasets/curation/duplicates.html",
        form,
        dataset=dataset,
        decision=decision,
        decisions=NearDuplicate.Decision.choices,
        query=urlencode({"decision": decision}) if decision else "",
        page=pairs.get_page(request.GET.get("page", "1")),
        last_search=last_task(dataset, Kind.DUPLICATES),
    )


@organiser_required
def duplicate(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Compare two documents; POST decides on them and redirects to the next pair."""
    pair = get_duplicate(slug, pk)
    form = DecideDuplicateForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        decided = decide_duplicate(
            pair=pair, decision=form.cleaned_data["decision"], actor=request.user
        )
        messages.success(
            request,
            f"{decided.first.name} and {decided.second.name}: {decided.get_decision_display()}.",
        )
        following = following_pair(decided)
        if following is not None:
            return redirect("datasets:duplicate", slug, following.pk)
        return redirect("datasets:duplicates", slug)
    following, dataset = following_pair(pair), pair.second.dataset
    template = "datasets/curation/duplicate.html"
    return form_page(request, template, form, pair=pair, following=following, dataset=dataset)


@organiser_required
def content(request: UserRequest, slug: str) -> HttpResponse:
    """Show the content check of the filtered pages; POST starts it."""
    dataset = get_dataset(request.user, slug)
    is_posted = request.method == "POST"
    given = QueryDict(request.POST.get("filter", "")) if is_posted else request.GET
    wanted = checked_filter(request, dataset, given)
    form = ContentForm(request.POST if is_posted else None)
    if form.is_valid():
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
    return form_page(
        request,
        "datasets/curation/content.html",
        form,
        dataset=dataset,
        count=pages.count(),
        is_filtered=wanted.is_set,
        filter_query=wanted.as_parameters().urlencode(),
        last=last_task(dataset, Kind.CONTENT),
    )


@organiser_required
def selections(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    page = Paginator(selection_rows(dataset), PER_PAGE).get_page(request.GET.get("page", "1"))
    return render(request, "datasets/curation/selections.html", {"dataset": dataset, "page": page})


@organiser_required
def new_selection(request: UserRequest, slug: str) -> HttpResponse:
    """Show the strata of a draw; POST with `keep` saves the selection."""
    dataset = get_dataset(request.user, slug)
    is_posted = request.method == "POST"
    keeps = "keep" in request.POST
    given = QueryDict(request.POST.get("filter", "")) if is_posted else request.GET
    wanted = drawable(checked_filter(request, dataset, given))
    form = SelectionForm(request.POST if is_posted else None, keeps=keeps)
    sample, rows = None, []
    if is_posted and (spec := form.spec(wanted)):
        if keeps and (made := _keep(form, request, dataset, spec)):
            return redirect("datasets:selection", slug, made.pk)
        sample = draw(dataset=dataset, spec=spec, seed=form.cleaned_data["seed"])
        rows = strata_rows(sample, spec.strata)
    return form_page(
        request,
        "datasets/curation/selection_new.html",
        form,
        dataset=dataset,
        sample=sample,
        rows=rows,
        left_out=len(sample.strata) - len(rows) if sample else 0,
        columns=[STRATA[name] for name in form.cleaned_data["strata"]] if sample else [],
        filter_query=wanted.as_parameters().urlencode(),
        filters=[(name.replace("_", " "), value) for name, value in wanted.as_json().items()],
    )


def _keep(
    form: SelectionForm, request: UserRequest, dataset: Dataset, spec: DrawSpec
) -> Selection | None:
    try:
        made = create_selection(
            dataset=dataset,
            title=form.cleaned_data["title"],
            spec=spec,
            seed=form.cleaned_data["seed"],
            actor=request.user,
        )
    except ValidationError as error:
        for name, found in error.message_dict.items():
            form.add_error(name if name in form.fields else None, found)
        return None
    messages.success(request, f"Selection “{made}” saved.")
    return made


@organiser_required
def selection(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Show a selection; `?check=1` draws it again and compares."""
    selection = get_selection(slug, pk)
    spec, filters = selection.spec, selection.spec.get("filters", {})
    documents = selection.documents.select_related("dataset").order_by("name").defer("metadata")
    context = {
        "selection": selection,
        "page": Paginator(documents, PER_PAGE).get_page(request.GET.get("page")),
        "dataset": selection.dataset,
        "strata": [STRATA.get(name, name) for name in spec["strata"]],
        "filters": [(name.replace("_", " "), value) for name, value in filters.items()],
        "check": check_selection(selection) if request.GET.get("check") == "1" else None,
    }
    return render(request, "datasets/curation/selection.html", context)


@organiser_required
def selection_download(request: UserRequest, slug: str, pk: int) -> StreamingHttpResponse:
    refuse_unknown(request, ())
    selection = get_selection(slug, pk)
    response = StreamingHttpResponse(
        (csv_text([line]) for line in selection_lines(selection)),
        content_type="text/csv; charset=utf-8",
    )
    name = f"{slug}-selection-{selection.pk}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
