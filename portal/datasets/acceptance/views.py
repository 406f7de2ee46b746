"""Pages of quality acceptance: batches, the inspection of a sample, and audit reports."""

import json
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.access import get_batch, get_dataset, get_sampled
from portal.datasets.curation.draws import new_seed
from portal.datasets.documents.forms import capitalised
from portal.datasets.models import Batch, BatchDocument, Dataset, DocumentType, Selection
from portal.datasets.responses import file_response
from portal.web.refusals import errors_in, form_page, post_action
from portal.web.requests import refuse_unknown

from .audits import THRESHOLD, smallest_conclusive_sample
from .records import BUILT_IN, raw_schema
from .selectors import (
    Candidates,
    accuracy_chart,
    audit_file,
    batch_list,
    batch_schema,
    get_batch_page,
    inspected_fields,
    inspection_page,
    next_to_inspect,
    suggested_schema,
)
from .services import (
    LONGEST_COMMENT,
    MAX_BATCH,
    AcceptanceRefused,
    clear_verdict,
    close_batch,
    held_by,
    open_batch,
    put_back_batch,
    read_batch_schema,
    save_verdict,
)

# Characters; a schema of MAX_FIELDS fields needs far fewer.
MAX_SCHEMA = 200_000
MAX_VALUE = 20_000
_LARGEST_SEED = 2**63 - 1

SCHEMAS = [
    *((name, "The 19 receipt fields of ReceiptBench") for name in BUILT_IN),
    ("records", "All fields of the records"),
    ("own", "Custom schema"),
]


def parse_json(text: str) -> Any:
    """Parse JSON. Raises ValidationError with the line and column of the error."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValidationError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise ValidationError(
            "The JSON is nested too deeply or contains a number that is too long."
        ) from error


class NewBatchForm(forms.Form):
    schema = forms.ChoiceField(label="Fields to inspect", choices=SCHEMAS)
    schema_file = forms.FileField(
        label="Schema file",
        required=False,
        help_text="A JSON list of objects with <code>name</code> and <code>kind</code>: "
        "text, number, date, flag or list.",
        widget=forms.ClearableFileInput(attrs={"accept": ".json,application/json"}),
    )
    schema_text = forms.CharField(
        label="Or paste the schema",
        required=False,
        max_length=MAX_SCHEMA,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "class": "mono"}),
    )
    selection: Any = forms.ModelChoiceField(
        queryset=Selection.objects.none(),
        required=False,
        label="Selection",
        empty_label="All documents",
    )
    doc_type = forms.ChoiceField(
        required=False,
        label="Document type",
        choices=[("", "All types"), *capitalised(DocumentType.choices)],
    )
    language = forms.CharField(
        required=False,
        max_length=12,
        label="Language",
        help_text="A language code, such as en or zh.",
    )
    size = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_BATCH,
        label="Maximum number of documents",
        help_text=f"The first documents by name are used. Maximum: {MAX_BATCH:,}.",
    )
    sample_size = forms.IntegerField(
        min_value=1,
        max_value=MAX_BATCH,
        initial=smallest_conclusive_sample(),
        label="Documents to inspect",
        help_text=f"{smallest_conclusive_sample()} documents without an error in a field show, "
        f"with 95% confidence, that the field is more than {100 * THRESHOLD:g}% correct.",
    )
    threshold = forms.DecimalField(
        min_value=Decimal("0.1"),
        max_value=100,
        max_digits=4,
        decimal_places=1,
        initial=(100 * Decimal(str(THRESHOLD))).quantize(Decimal("0.1")),
        label="Required accuracy of each field (%)",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=_LARGEST_SEED,
        label="Seed",
        help_text="The same seed draws the same sample.",
    )

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._dataset = dataset
        selections = dataset.selections.all()
        self.fields["selection"].queryset = selections  # type: ignore[attr-defined]
        if not selections:
            del self.fields["selection"]
        self.fields["seed"].initial = new_seed()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if choice := cleaned.get("schema"):
            try:
                cleaned["schema_data"] = self._schema(choice, cleaned)
            except ValidationError as error:
                self.add_error("schema_text", error)
        return cleaned

    def _schema(self, choice: str, cleaned: dict[str, Any]) -> Any:
        if choice in BUILT_IN:
            return raw_schema(choice)
        if choice == "records":
            data = suggested_schema(self._dataset)
        else:
            data = parse_json(self._own_text(cleaned))
        try:
            read_batch_schema(data)
        except AcceptanceRefused as refusal:
            raise ValidationError(refusal.message) from refusal
        return data

    def _own_text(self, cleaned: dict[str, Any]) -> str:
        file, text = cleaned.get("schema_file"), cleaned.get("schema_text", "")
        if file and text.strip():
            raise ValidationError("Upload a file or paste the schema, not both.")
        if file is None:
            if not text.strip():
                raise ValidationError("Upload a schema file or paste the schema.")
            return str(text)
        if file.size > MAX_SCHEMA:
            raise ValidationError(f"{file.name} is larger than {MAX_SCHEMA:,} bytes.")
        try:
            return str(file.read().decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise ValidationError(f"{file.name} is not encoded as UTF-8.") from error

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `open_batch` from a valid form."""
        cleaned = self.cleaned_data
        return {
            "schema": cleaned["schema_data"],
            "sample_size": cleaned["sample_size"],
            "seed": cleaned["seed"],
            "threshold": float(cleaned["threshold"] / 100),
            "size": cleaned["size"],
            "candidates": Candidates(
                cleaned.get("selection"), cleaned["doc_type"], cleaned["language"].strip()
            ),
        }


class VerdictForm(forms.Form):
    """A verdict on one field. A correct value without a verdict means that the field is wrong."""

    field = forms.CharField(max_length=80, strip=False)
    verdict = forms.ChoiceField(
        required=False, choices=[(word, word) for word in ("right", "wrong", "clear")]
    )
    correct_value = forms.CharField(required=False, max_length=MAX_VALUE)
    should_be_empty = forms.BooleanField(required=False)
    comment = forms.CharField(required=False, max_length=LONGEST_COMMENT)
    base = forms.CharField(required=False, max_length=40)

    def correct(self, kind: str) -> Any:
        """Return the correct value, or None if it was not entered.

        Lists and flags are parsed as JSON. Raises ValidationError.
        """
        text: str = self.cleaned_data["correct_value"]
        if self.cleaned_data["should_be_empty"]:
            if text:
                raise ValidationError("Enter a value or select “Should be empty”, not both.")
            return ""
        if not text:
            return None
        if kind not in ("list", "flag"):
            return text
        value = parse_json(text)
        if kind == "list" and not isinstance(value, list):
            raise ValidationError('Write the list as JSON, for example ["a", "b"].')
        if kind == "flag" and not isinstance(value, bool):
            raise ValidationError("Enter true or false.")
        return value


REPORT_FORMS = ("json", "markdown", "csv")


@organiser_required
@require_safe
def batches(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    listed = batch_list(dataset, request.GET.get("page", "1"))
    context = {"dataset": dataset, "list": listed, "chart": accuracy_chart(dataset, listed.closed)}
    return render(request, "datasets/acceptance/batches.html", context)


@organiser_required
def new_batch(request: UserRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    form = NewBatchForm(request.POST or None, request.FILES or None, dataset=dataset)
    if form.is_valid():
        with errors_in(form):
            batch = open_batch(dataset=dataset, **form.arguments(), actor=request.user)
            drawn = f"{batch.sample_size:,} document{pluralize(batch.sample_size)}"
            messages.success(request, f"Batch {batch.number} is open with {drawn} to inspect.")
            return redirect("datasets:batch", slug, batch.number)
    return form_page(request, "datasets/acceptance/batch_new.html", form, dataset=dataset)


@organiser_required
@require_safe
def batch(request: UserRequest, slug: str, number: int) -> HttpResponse:
    batch = get_batch(slug, number)
    held = held_by(batch).count() if batch.state == Batch.State.REJECTED else 0
    show = request.GET.get("show", "")
    page = get_batch_page(batch, show=show, page=request.GET.get("page", "1"), held=held)
    context = {"page": page, "dataset": batch.dataset, "batch": batch}
    return render(request, "datasets/acceptance/batch.html", context)


@organiser_required
@post_action("datasets:batch", "slug", "number")
def close(request: UserRequest, slug: str, number: int) -> str:
    closed = close_batch(batch=get_batch(slug, number), actor=request.user)
    return f"Batch {closed.number} is {closed.state}."


@organiser_required
@post_action("datasets:batch", "slug", "number")
def put_back(request: UserRequest, slug: str, number: int) -> str:
    count = put_back_batch(batch=get_batch(slug, number), actor=request.user)
    return f"{count:,} document{pluralize(count)} returned."


@organiser_required
@require_safe
def report(request: UserRequest, slug: str, number: int) -> HttpResponse:
    refuse_unknown(request, {"form"})
    form = request.GET.get("form", REPORT_FORMS[0])
    if form not in REPORT_FORMS:
        raise Http404(f"Unknown report format. Use {', '.join(REPORT_FORMS)}.")
    return file_response(audit_file(get_batch(slug, number), form))


_STATUS = {"conflict": 409, "closed": 409}


@organiser_required
@require_safe
def inspect_next(request: UserRequest, slug: str, number: int) -> HttpResponse:
    """Redirect to the next document to inspect."""
    batch = get_batch(slug, number)
    waiting = next_to_inspect(batch, request.GET.get("after", "")[:200])
    if waiting is None:
        messages.success(request, "Every field of the sample has been inspected.")
        return redirect("datasets:batch", slug, number)
    return redirect("datasets:inspect", slug, number, waiting.document.name)


@organiser_required
@require_http_methods(["GET", "HEAD", "POST"])
def inspect(request: UserRequest, slug: str, number: int, name: str) -> HttpResponse:
    batch = get_batch(slug, number)
    sampled = get_sampled(batch, name)
    if request.method == "POST":
        return _save(request, sampled)
    page = inspection_page(batch, sampled)
    is_open = batch.state == Batch.State.OPEN
    context = {"page": page, "batch": batch, "dataset": batch.dataset, "is_open": is_open}
    return render(request, "datasets/acceptance/inspect.html", context)


def _save(request: UserRequest, sampled: BatchDocument) -> HttpResponse:
    form = VerdictForm(request.POST)
    field = request.POST.get("field", "")
    refused, status = "", 200
    try:
        _save_verdict(request, sampled, form)
    except AcceptanceRefused as refusal:
        refused, status = refusal.message, _STATUS.get(refusal.code, 400)
    except ValidationError as error:
        refused, status = " ".join(error.messages), 400
    fields = inspected_fields(sampled.batch, sampled)
    shown = next((inspected for inspected in fields if inspected.name == field), None)
    if request.headers.get("HX-Request") and shown is not None:
        # Only the verdict and the progress of the document change on the page.
        said = sum(bool(inspected.said) for inspected in fields)
        context = {"field": shown, "refused": refused, "said": said, "total": len(fields)}
        return render(
            request, "datasets/acceptance/parts/inspected_answer.html", context, status=status
        )
    if refused:
        messages.error(request, f"{field[:80]}: {refused}" if field else refused)
    url = reverse(
        "datasets:inspect",
        args=[sampled.batch.dataset.slug, sampled.batch.number, sampled.document.name],
    )
    return redirect(f"{url}#field-{shown.number}" if shown else url)


def _save_verdict(request: UserRequest, sampled: BatchDocument, form: VerdictForm) -> None:
    """Save or clear a verdict. Raises ValidationError for invalid input, or AcceptanceRefused."""
    if not form.is_valid():
        raise ValidationError([message for errors in form.errors.values() for message in errors])
    name, verdict = form.cleaned_data["field"], form.cleaned_data["verdict"]
    rules = {rule.name: rule.kind for rule in batch_schema(sampled.batch).fields}
    if name not in rules:
        raise AcceptanceRefused("This field is not in the batch.", code="unknown")
    base = form.cleaned_data["base"]
    if verdict == "clear":
        clear_verdict(sampled=sampled, field=name, base=base, actor=request.user)
        return
    is_right = verdict == "right"
    save_verdict(
        sampled=sampled,
        field=name,
        is_right=is_right,
        correct_value=None if is_right else form.correct(rules[name]),
        comment=form.cleaned_data["comment"],
        base=base,
        actor=request.user,
    )
