"""Pages of stress variants: list, form, contact sheet, and copying of releases."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from portal.accounts.access import UserRequest, organiser_required
from portal.datasets.access import get_dataset
from portal.datasets.curation.draws import new_seed
from portal.datasets.models import Dataset, Release, Selection
from portal.datasets.releases.gold import ReleaseError
from portal.datasets.responses import IMAGE_POLICY, keep_private
from portal.web.refusals import errors_in, form_page, post_action

from .deriving import sheet_path
from .services import (
    LARGEST_SEED,
    VariantSpec,
    carry_release,
    create_variant,
    start_deriving,
    variant_list,
)


class VariantForm(forms.Form):
    kind = forms.ChoiceField(label="Simulated capture")
    strength = forms.FloatField(
        min_value=0.01,
        max_value=1,
        initial=0.5,
        help_text="Above 0, at most 1; higher is worse. Rotations have no strength.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        help_text="The same seed gives the same images.",
    )
    selection = forms.ModelChoiceField(
        Selection.objects.none(),
        required=False,
        label="Documents",
        empty_label="All documents with an image",
    )
    names = forms.CharField(
        required=False,
        label="Only these documents",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One name per line. If empty, the choice above applies.",
    )
    release = forms.ModelChoiceField(
        Release.objects.none(),
        required=False,
        label="Copy release",
        empty_label="No release",
        help_text="Copies the gold of the release, so that boards can use the variant.",
    )
    slug = forms.SlugField(
        required=False,
        max_length=80,
        label="Short name",
        help_text="Leave empty to generate one from the settings.",
    )

    def __init__(self, *args: Any, base: Dataset, **kwargs: Any) -> None:
        from .captures import CAPTURES

        super().__init__(*args, **kwargs)
        kind, fields = self.fields["kind"], self.fields
        assert isinstance(kind, forms.ChoiceField)
        kind.choices = [
            (capture.key, f"{capture.title}: {capture.help[:1].lower()}{capture.help[1:-1]}")
            for capture in CAPTURES.values()
        ]
        releases = base.releases.order_by("-frozen_at", "-id")
        self._choose_from(fields["selection"], base.selections.all())
        self._choose_from(fields["release"], releases)
        fields["seed"].initial = new_seed
        fields["release"].initial = releases.first()

    def spec(self) -> VariantSpec:
        """Return the parameters of a valid form."""
        chosen = self.cleaned_data
        return VariantSpec(
            kind=chosen["kind"],
            strength=chosen["strength"],
            seed=chosen["seed"],
            names=self._names(),
            release=chosen["release"],
        )

    def _names(self) -> list[str] | None:
        written = [line.strip() for line in self.cleaned_data["names"].splitlines()]
        if names := [name for name in written if name]:
            return names
        if selection := self.cleaned_data["selection"]:
            return list(selection.documents.values_list("name", flat=True))
        return None

    @staticmethod
    def _choose_from(field: forms.Field, rows: Any) -> None:
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = rows


class CarryForm(forms.Form):
    release = forms.ModelChoiceField(Release.objects.none())

    def __init__(self, *args: Any, base: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        VariantForm._choose_from(self.fields["release"], base.releases.all())


@require_safe
def variants(request: HttpRequest, slug: str) -> HttpResponse:
    dataset = get_dataset(request.user, slug)
    found = variant_list(request.user, dataset, page=request.GET.get("page", "1"))
    return render(request, "datasets/variants/variants.html", {"dataset": dataset, "view": found})


@organiser_required
def new_variant(request: UserRequest, slug: str) -> HttpResponse:
    base = get_dataset(request.user, slug)
    form = VariantForm(request.POST if request.method == "POST" else None, base=base)
    if form.is_valid():
        with errors_in(form):
            spec, short, actor = form.spec(), form.cleaned_data["slug"], request.user
            variant = create_variant(base=base, spec=spec, slug=short, actor=actor)
            task = start_deriving(variant=variant, spec=spec, actor=actor)
            messages.success(request, "Creating the variant. It is private until you publish it.")
            return redirect(task)
    return form_page(request, "datasets/variants/variant_new.html", form, dataset=base)


@organiser_required
@post_action("datasets:variants", "slug", refusals=(ReleaseError,))
def carry(request: UserRequest, slug: str) -> str | HttpResponse:
    """Copy a release of the base to the variant `slug`."""
    variant = get_dataset(request.user, slug)
    if variant.derived_from is None:
        raise Http404("This dataset is not a variant.")
    form = CarryForm(request.POST, base=variant.derived_from)
    if not form.is_valid():
        messages.error(request, "Choose a release of the original dataset.")
        return redirect("datasets:variants", slug)
    source = form.cleaned_data["release"]
    release = carry_release(release=source, variant=variant, actor=request.user)
    messages.success(request, f"Release {release.version} copied.")
    return redirect(release)


@require_safe
def contact_sheet(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Return the contact sheet to users who may see its images."""
    variant = get_dataset(request.user, slug)
    path = sheet_path(variant)
    if not (variant.derivation or {}).get("sheet") or not default_storage.exists(path):
        raise Http404("This variant has no contact sheet yet.")
    response = FileResponse(default_storage.open(path, "rb"), content_type="image/jpeg")
    response["Content-Security-Policy"] = IMAGE_POLICY
    keep_private(response)
    return response
