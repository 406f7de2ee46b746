"""Forms of datasets, documents, the document table, bulk edits and page images."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, QueryDict
from django.utils.text import capfirst

from portal.accounts.access import is_organiser
from portal.datasets.imaging.pictures import Picture, PictureError, upright_picture
from portal.datasets.imports.items import FIRST_YEAR, LAST_YEAR
from portal.datasets.models import Dataset, Document, DocumentType
from portal.files.uploads import UploadForm
from portal.web.requests import UnknownParameter, refuse_unknown_names

from .services import BULK_EDITABLE, Hold, check_fields, read_metadata
from .table import PARAMETERS, UNKNOWN, DocumentFilter, Facets, document_facets


def capitalised(choices: Iterable[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Choices that begin with a capital, as the options of a field do."""
    return [(value, capfirst(str(label))) for value, label in choices]


ACCEPT_OVERLAPS = "accept_overlaps"
FREEZE_OVERLAPS = "Freeze {} whose gold is also hidden or public elsewhere"


def accepted_number(data: Any) -> int:
    """The number of overlapping documents that the user confirmed."""
    sent = str(data.get(ACCEPT_OVERLAPS, ""))
    return int(sent) if sent.isdecimal() and len(sent) < 10 else 0


def offer_overlaps(form: forms.BaseForm, count: int, label: str = FREEZE_OVERLAPS) -> None:
    """Adds a checkbox with the number of overlapping documents, which it confirms."""
    field = forms.BooleanField(required=False)
    field.label = label.format(f"{count:,} document{'' if count == 1 else 's'}")
    field.widget.attrs["value"] = str(count)
    form.fields[ACCEPT_OVERLAPS] = field


class EditDatasetForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Dataset
        fields = ["title", "description", "licence", "visibility"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        visibility = self.fields["visibility"]
        assert isinstance(visibility, forms.ChoiceField)
        visibility.choices = capitalised(Dataset.Visibility.choices)

    def accepted_overlaps(self) -> int:
        return accepted_number(self.data)

    def refuse(self, faults: Sequence[str], count: int) -> None:
        """Shows why the dataset cannot become public, and the checkbox that confirms it."""
        self.add_error(None, list(faults))
        if count:
            offer_overlaps(self, count, "Publish {} whose gold is hidden in another dataset")


class DatasetForm(EditDatasetForm):
    class Meta(EditDatasetForm.Meta):
        fields = ["title", "slug", "description", "licence", "visibility"]
        labels = {"slug": "Short name"}
        error_messages = {"slug": {"unique": "Another dataset already has this short name."}}


class DocumentSearchForm(forms.Form):
    """Search and filters for documents. Lists ignore invalid values, changes refuse them."""

    q = forms.CharField(
        required=False,
        max_length=100,
        label="Search",
        widget=forms.TextInput(attrs={"type": "search", "placeholder": "Name or company"}),
    )
    doc_type = forms.ChoiceField(
        required=False,
        label="Type",
        choices=[("", "All types"), *capitalised(DocumentType.choices)],
    )

    def wanted(self) -> DocumentFilter:
        """Return the valid filters."""
        self.is_valid()
        values: dict[str, Any] = {
            field: self.cleaned_data.get(parameter)
            for parameter, field in PARAMETERS.items()
            if self.cleaned_data.get(parameter) not in (None, "")
        }
        return DocumentFilter(**values)


class ImageForm(UploadForm):
    """An image of a document, read into `picture`. It may replace the image of one of `numbers`."""

    picture: Picture
    file = forms.FileField(
        label="Page image",
        widget=forms.ClearableFileInput(attrs={"accept": "image/png,image/jpeg"}),
        help_text="PNG or JPEG.",
    )
    replaces = forms.TypedChoiceField(
        required=False, coerce=int, empty_value=None, label="Position"
    )

    def __init__(self, *args: Any, numbers: Sequence[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        replaces = self.fields["replaces"]
        assert isinstance(replaces, forms.ChoiceField)
        replaces.choices = [
            ("", "Add after the existing images"),
            *((number, f"Replace image {number}") for number in numbers),
        ]
        if not numbers:
            del self.fields["replaces"]

    def clean_file(self) -> "UploadedFile[bytes]":
        upload: UploadedFile[bytes] = self.cleaned_data["file"]
        self.picture = read_picture(upload)
        return upload


def read_picture(upload: "UploadedFile[bytes]") -> Picture:
    """Read the image of an upload. Raises ValidationError."""
    if (upload.size or 0) > settings.ARCHIVE_MEMBER_LIMIT:
        limit = settings.ARCHIVE_MEMBER_LIMIT // settings.MEGABYTE
        raise ValidationError(f"{upload.name} is larger than {limit} MB.", code="too_large")
    try:
        return upright_picture(upload.read())
    except PictureError as error:
        raise ValidationError(f"{upload.name}: {error}", code=error.code) from error


FACT_CHOICES = [
    ("with", "With facts"),
    ("without", "Without facts"),
    (UNKNOWN, "Not in a release"),
]
MAX_FACTS = 2**31 - 1
MAX_REASON = 1000


_STRATA = {
    "category": "All categories",
    "subset": "All subsets",
    "condition": "All conditions",
}


class DocumentFilterForm(DocumentSearchForm):
    """All filters of the document table, with the values that exist in the dataset."""

    company = forms.CharField(required=False, max_length=200, label="Company (full name)")
    form_type = forms.CharField(required=False, max_length=60, label="Form")
    fiscal_year = forms.ChoiceField(required=False, label="Fiscal year")
    source = forms.ChoiceField(required=False, label="Source")
    language = forms.ChoiceField(required=False, label="Language")
    category = forms.ChoiceField(required=False, label="Category")
    subset = forms.ChoiceField(required=False, label="Subset")
    condition = forms.ChoiceField(required=False, label="Capture condition")
    kind = forms.ChoiceField(required=False, label="Format")
    facts = forms.ChoiceField(required=False, label="Facts")
    min_facts = forms.IntegerField(
        required=False, min_value=0, max_value=MAX_FACTS, label="Minimum facts"
    )
    state = forms.ChoiceField(required=False, label="State")

    def __init__(self, data: Any, *, facets: Facets, may_manage: bool) -> None:
        super().__init__(data)
        years = [(str(year), str(year)) for year in reversed(facets.years)]
        self._choose("fiscal_year", "All years", [*years, (UNKNOWN, "Unknown")])
        self._choose("source", "All sources", _texts(facets.texts["source"]))
        self._choose("language", "All languages", _texts(facets.texts["language"]))
        for name, everything in _STRATA.items():
            self._choose(name, everything, _texts(facets.texts[name]))
            if not facets.texts[name]:
                # Most datasets have none; a filter in the URL still applies.
                self.fields[name].widget = forms.HiddenInput()
        self._choose("kind", "All formats", capitalised(Document.Kind.choices))
        self._choose("facts", "Any number", FACT_CHOICES)
        self._choose("state", "All states", capitalised(Document.State.choices))
        if not may_manage:
            del self.fields["state"]

    @property
    def main_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("q", "doc_type")]

    @property
    def more_fields(self) -> list[forms.BoundField]:
        """The fields behind “More filters”."""
        main = {field.name for field in self.main_fields}
        return [field for field in self.visible_fields() if field.name not in main]

    @property
    def uses_more(self) -> bool:
        return any(
            self.cleaned_data.get(field.name) not in (None, "") for field in self.more_fields
        )

    def _choose(self, name: str, everything: str, choices: Any) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", everything), *choices]


def _texts(values: list[str]) -> list[tuple[str, str]]:
    return [*((value, value) for value in values), (UNKNOWN, "Unknown")]


class DocumentForm(forms.ModelForm):  # type: ignore[type-arg]
    fiscal_year = forms.IntegerField(
        required=False, min_value=FIRST_YEAR, max_value=LAST_YEAR, label="Fiscal year"
    )
    source_url = forms.CharField(
        required=False,
        max_length=500,
        label="Source URL",
        help_text="Must begin with https:// or http://.",
    )
    metadata = forms.CharField(
        required=False,
        label="Other metadata",
        help_text="A JSON object of up to 64 kB.",
        widget=forms.Textarea(attrs={"rows": 10, "class": "mono", "spellcheck": "false"}),
    )

    class Meta:
        model = Document
        fields = (*BULK_EDITABLE, "source_url")
        labels = {"doc_type": "Type", "form_type": "Form"}
        help_texts = {
            "form_type": "For example 10-K or 8-K.",
            "licence": "Leave empty to use the licence of the dataset.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        doc_type = self.fields["doc_type"]
        assert isinstance(doc_type, forms.ChoiceField)
        doc_type.choices = capitalised(DocumentType.choices)
        written = json.dumps(self.instance.metadata, ensure_ascii=False, indent=2)
        self.initial.setdefault("metadata", written)

    def clean_metadata(self) -> dict[str, Any]:
        return read_metadata(self.cleaned_data["metadata"] or "{}")

    def clean(self) -> dict[str, Any]:
        check_fields(self.cleaned_data)
        return self.cleaned_data

    def _post_clean(self) -> None:
        """Leave the instance unchanged: the service stores the changes."""


class BulkEditForm(forms.Form):
    """New values for many documents. Only the selected fields change."""

    ACTIONS = [
        ("", "No change"),
        ("hold", "Hold back"),
        ("take_up", "Stop holding back"),
    ]

    doc_type = forms.ChoiceField(
        label="Type", required=False, choices=capitalised(DocumentType.choices)
    )
    company = forms.CharField(required=False, max_length=200)
    form_type = forms.CharField(label="Form", required=False, max_length=60)
    fiscal_year = forms.IntegerField(
        required=False, min_value=FIRST_YEAR, max_value=LAST_YEAR, label="Fiscal year"
    )
    language = forms.CharField(
        required=False, max_length=12, help_text="A language code, such as en or zh."
    )
    licence = forms.CharField(required=False, max_length=300)
    action = forms.ChoiceField(label="Held back", required=False, choices=ACTIONS)
    reason = forms.CharField(
        required=False,
        max_length=MAX_REASON,
        help_text="Required to hold documents back. Only organisers can see it.",
    )
    # The fields to change. A selected field without a value is cleared.
    change = forms.MultipleChoiceField(
        required=False, choices=[(name, name) for name in BULK_EDITABLE]
    )

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if data.get("action") == "hold" and not data.get("reason", "").strip():
            self.add_error("reason", "Enter a reason for holding the documents back.")
        if not data.get("change") and not data.get("action"):
            self.add_error(None, "Select at least one field to change, or hold documents back.")
        return data

    def changes(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.cleaned_data["change"]}

    def hold(self) -> Hold | None:
        if action := self.cleaned_data["action"]:
            return Hold(self.cleaned_data["reason"].strip() if action == "hold" else "")
        return None

    @property
    def rows(self) -> list[tuple[forms.BoundField, bool]]:
        """Each field, and whether it is selected."""
        ticked = set(self.data.getlist("change")) if isinstance(self.data, QueryDict) else set()
        return [(self[name], name in ticked) for name in BULK_EDITABLE]


def filter_form(request: HttpRequest, dataset: Dataset, data: QueryDict) -> DocumentFilterForm:
    facets = document_facets(request.user, dataset)
    return DocumentFilterForm(data, facets=facets, may_manage=is_organiser(request.user))


def checked_filter(request: HttpRequest, dataset: Dataset, query: QueryDict) -> DocumentFilter:
    """The filter of a change or a draw. An ignored value would widen it, so this raises
    UnknownParameter."""
    refuse_unknown_names(query, DocumentFilterForm.base_fields)
    form = filter_form(request, dataset, query)
    wanted = form.wanted()
    if form.errors:
        raise UnknownParameter(f"The filter “{next(iter(form.errors))}” has no such value.")
    return wanted
