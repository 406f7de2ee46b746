"""Inspecting one sampled document of a batch, field by field."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.acceptance_forms import VerdictForm
from portal.datasets.access import get_batch, get_sampled
from portal.datasets.models import BatchDocument
from portal.datasets.selectors.acceptance import batch_schema
from portal.datasets.selectors.batches import next_to_inspect
from portal.datasets.selectors.inspections import inspected_fields, inspection_page
from portal.datasets.services.acceptance import AcceptanceRefused
from portal.datasets.services.inspections import clear_verdict, save_verdict

_STATUS = {"conflict": 409, "closed": 409}


@organiser_required
@require_safe
def inspect_next(request: UserRequest, slug: str, number: int) -> HttpResponse:
    """On to the next document that is not inspected yet."""
    batch = get_batch(slug, number)
    waiting = next_to_inspect(batch, request.GET.get("after", "")[:200])
    if waiting is None:
        messages.success(request, "Every field of the sample has a verdict.")
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
    context = {"page": page, "batch": batch, "dataset": batch.dataset, "is_open": _is_open(sampled)}
    return render(request, "datasets/inspect.html", context)


def _is_open(sampled: BatchDocument) -> bool:
    return sampled.batch.state == sampled.batch.State.OPEN


def _save(request: UserRequest, sampled: BatchDocument) -> HttpResponse:
    form = VerdictForm(request.POST)
    field = request.POST.get("field", "")
    refused, status = "", 200
    try:
        _say(request, sampled, form)
    except AcceptanceRefused as refusal:
        refused, status = refusal.message, _STATUS.get(refusal.code, 400)
    except ValidationError as error:
        refused, status = " ".join(error.messages), 400
    fields = inspected_fields(sampled.batch, sampled)
    shown = next((one for one in fields if one.name == field), None)
    if request.headers.get("HX-Request") and shown is not None:
        # What changes on the page: the field's verdict and how far the document is.
        said = sum(bool(one.said) for one in fields)
        context = {"field": shown, "refused": refused, "said": said, "total": len(fields)}
        return render(request, "datasets/parts/inspected_answer.html", context, status=status)
    if refused:
        messages.error(request, f"{field[:80]}: {refused}" if field else refused)
    address = reverse(
        "datasets:inspect",
        args=[sampled.batch.dataset.slug, sampled.batch.number, sampled.document.name],
    )
    return redirect(f"{address}#field-{shown.number}" if shown else address)


def _say(request: UserRequest, sampled: BatchDocument, form: VerdictForm) -> None:
    """Raises ValidationError for a form that cannot be read, AcceptanceRefused as the services."""
    if not form.is_valid():
        raise ValidationError([message for errors in form.errors.values() for message in errors])
    name, verdict = form.cleaned_data["field"], form.cleaned_data["verdict"]
    rules = {rule.name: rule.kind for rule in batch_schema(sampled.batch).fields}
    if name not in rules:
        raise AcceptanceRefused("There is no such field.", code="unknown")
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
