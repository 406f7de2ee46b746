"""Stress variants: the list, a new one, the contact sheet, and carrying gold over."""

from django.contrib import messages
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.access import get_dataset
from portal.datasets.models import Dataset, DatasetTask
from portal.datasets.rendering import IMAGE_POLICY
from portal.datasets.selectors.variants import sheet_mark, variant_list
from portal.datasets.services.carried_releases import carry_release
from portal.datasets.services.deriving import sheet_path
from portal.datasets.services.releases import ReleaseError
from portal.datasets.services.variants import VariantError, create_variant, start_deriving
from portal.datasets.variant_forms import CarryForm, VariantForm


@require_safe
def variants(request: HttpRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    found = variant_list(request.user, dataset, page=request.GET.get("page", "1"))
    return render(request, "datasets/variants.html", {"dataset": dataset, "view": found})


@organiser_required
def new_variant(request: UserRequest, slug: str) -> HttpResponse:
    base = get_dataset(request.user, slug)
    form = VariantForm(request.POST if request.method == "POST" else None, base=base)
    if form.is_valid():
        task = _create(request, base, form)
        if task is not None:
            messages.success(
                request, "The variant is being made. It is private until you publish it."
            )
            return redirect(task)
    context = {"form": form, "dataset": base}
    return render(request, "datasets/variant_new.html", context, status=400 if form.errors else 200)


def _create(request: UserRequest, base: Dataset, form: VariantForm) -> DatasetTask | None:
    """The work that was ordered; None, with the form's errors, where it was refused."""
    spec = form.spec()
    try:
        variant = create_variant(
            base=base, spec=spec, slug=form.cleaned_data["slug"], actor=request.user
        )
    except VariantError as error:
        form.add_error(error.field, error.message)
        return None
    return start_deriving(variant=variant, spec=spec, actor=request.user)


@organiser_required
@require_POST
def carry(request: UserRequest, slug: str) -> HttpResponse:
    """Carries a release of the base over into the variant `slug`."""
    variant = get_dataset(request.user, slug)
    if variant.derived_from is None:
        raise Http404("not a variant")
    form = CarryForm(request.POST, base=variant.derived_from)
    if not form.is_valid():
        messages.error(request, "Choose a release of the original dataset.")
        return redirect("datasets:variants", slug)
    try:
        release = carry_release(
            release=form.cleaned_data["release"], variant=variant, actor=request.user
        )
    except ReleaseError as error:
        messages.error(request, str(error))
        return redirect("datasets:variants", slug)
    messages.success(request, f"Release {release.version} is carried over.")
    return redirect(release)


@require_safe
def contact_sheet(request: HttpRequest, slug: str) -> HttpResponseBase:
    """As open as the images that are on it."""
    variant = get_dataset(request.user, slug)
    path = sheet_path(variant)
    if not sheet_mark(variant) or not default_storage.exists(path):
        raise Http404("no contact sheet has been made yet")
    response = FileResponse(default_storage.open(path, "rb"), content_type="image/jpeg")
    response["Content-Security-Policy"] = IMAGE_POLICY
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private"
    return response
