"""Forms of releases: freezing one, restoring one, and accepting a licence."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict

from portal.datasets.curation.draws import COMPANY, FILING, NOTHING, SplitDraw
from portal.datasets.documents.forms import accepted_number, capitalised, offer_overlaps
from portal.datasets.models import Dataset, DocumentRecord, Release
from portal.datasets.models.releases import Version
from portal.datasets.releases.publishing.croissant import read_citation
from portal.files.uploads import UploadForm, upload_limit_message

from .freezing import COLUMN, DRAW, EARLIER, FILE, NO_SPLIT, RECORDS, FreezeOrder
from .gold import gold_formats

_SPLITS = [
    (NO_SPLIT, "No split"),
    (DRAW, "Random, stratified by document type"),
    (COLUMN, "From the field “split” of the record or metadata"),
]
GROUPS = [
    (FILING, "Filing"),
    (COMPANY, "Company"),
    (NOTHING, "None"),
]
LARGEST_SEED = 2**53


class ReleaseTermsForm(forms.Form):
    """Version, visibility, splits, licence, citation and notes of a release."""

    version = forms.CharField(max_length=32, help_text="A semantic version, such as 1.0.0.")
    visibility = forms.ChoiceField(
        choices=capitalised(Release.Visibility.choices), initial=Release.Visibility.GOLD_HIDDEN
    )
    split = forms.ChoiceField(
        required=False,
        label="Split",
        choices=_SPLITS,
        initial=NO_SPLIT,
        help_text="If gold is hidden, the gold of the dev split is still public.",
    )
    test_share = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=99,
        initial=50,
        label="Test share (%)",
        help_text="For a random split. Items of earlier releases stay in their split.",
    )
    group_by = forms.ChoiceField(
        required=False,
        label="Group by",
        choices=GROUPS,
        initial=FILING,
        help_text="Documents of a group stay in one split. A filing is identified by the metadata"
        " field “filing”, or by the name before the page number, as in acme_p012.",
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST_SEED,
        initial=1,
        help_text="For a random split. The same seed gives the same split.",
    )
    licence = forms.CharField(
        required=False,
        max_length=160,
        help_text="For example CC-BY-4.0. Users must accept it before they download gold.",
    )
    authors = forms.CharField(
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One per line. Write people as “Family, Given”.",
    )
    year = forms.IntegerField(required=False, min_value=1900, max_value=2200)
    doi = forms.CharField(required=False, max_length=200, label="DOI")
    url = forms.CharField(required=False, max_length=500, label="URL to cite")
    notes = forms.CharField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 6}),
        label="Release notes",
        help_text="Markdown. The notes are public.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if accepted := self.accepted_overlaps():
            self.offer_overlaps(accepted)

    def accepted_overlaps(self) -> int:
        """The number of overlapping documents that the user confirmed."""
        return accepted_number(self.data)

    def offer_overlaps(self, count: int) -> None:
        """Adds the checkbox that confirms them."""
        offer_overlaps(self, count)

    def clean_version(self) -> str:
        version: str = self.cleaned_data["version"]
        try:
            return str(Version.parse(version))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error

    def clean_authors(self) -> list[str]:
        lines = self.cleaned_data["authors"].splitlines()
        return [line.strip() for line in lines if line.strip()]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors.keys() & {"authors", "year", "doi", "url"}:
            try:
                read_citation(self.citation())
            except ValueError as error:
                field, _, reason = str(error).partition(": ")
                self.add_error(field if field in self.fields else None, reason)
        if data.get("split") == DRAW:
            for name in ("test_share", "seed"):
                if data.get(name) is None and name not in self.errors:
                    self.add_error(name, "Required for a random split.")
        return data

    def citation(self) -> dict[str, Any]:
        """The citation without empty fields."""
        given = {name: self.cleaned_data.get(name) for name in ("authors", "year", "doi", "url")}
        return {name: value for name, value in given.items() if value}

    def draw(self) -> SplitDraw | None:
        """How to draw the split; None if it is not drawn."""
        if self.cleaned_data.get("split") != DRAW:
            return None
        data = self.cleaned_data
        return SplitDraw(data["test_share"] / 100, data["seed"], data["group_by"] or FILING)

    @property
    def split_is_given(self) -> bool:
        return bool(self.cleaned_data.get("split") == COLUMN)

    def show_notes(self, notes: str) -> None:
        """Replaces the notes in the bound form before it is shown again."""
        self.data = MultiValueDict(self.data)
        self.data["notes"] = notes


class NewReleaseForm(ReleaseTermsForm):
    """A release without a campaign: from records, a gold file or an earlier release."""

    source = forms.ChoiceField(label="Gold")
    file = forms.FileField(
        required=False,
        label="Gold file",
        help_text="Only if you chose a gold file above.",
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,.jsonl,.gz"}),
    )
    labels = forms.CharField(
        required=False,
        max_length=400,
        initial="Number, Date",
        help_text="The labels of the facts, for gold with fact tags.",
    )
    field_order = ("source", "file", "version", "visibility", "licence", "notes")
    # Fields that few releases need, in closed sections of the page.
    SECTIONS: ClassVar = {
        "Splits": ("split", "test_share", "group_by", "seed"),
        "Citation": ("authors", "year", "doi", "url"),
        "Labels": ("labels",),
    }

    def __init__(
        self, *args: Any, dataset: Dataset, too_large: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        source = self.fields["source"]
        assert isinstance(source, forms.ChoiceField)
        source.choices = source_choices(dataset)
        file = self.fields["file"]
        file.help_text = (
            "ZIP, JSON Lines or gzipped JSON Lines, up to "
            f"{settings.UPLOAD_LIMIT // settings.MEGABYTE} MB."
        )
        self._too_large = too_large

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if self._too_large:
            self.add_error("file", upload_limit_message())
        elif self.chosen[0] == FILE and not data.get("file"):
            self.add_error("file", "Choose a gold file.")
        return data

    @property
    def main_fields(self) -> list[forms.BoundField]:
        rarer = {name for names in self.SECTIONS.values() for name in names}
        return [field for field in self if field.name not in rarer]

    @property
    def sections(self) -> list[tuple[str, list[forms.BoundField], bool]]:
        """The rarer fields by section, and whether one of them is in use."""
        return [
            (title, [self[name] for name in names], any(map(self._is_used, names)))
            for title, names in self.SECTIONS.items()
        ]

    def _is_used(self, name: str) -> bool:
        field = self[name]
        is_changed = self.is_bound and str(field.data or "") != str(field.initial or "")
        return bool(field.errors) or is_changed

    @property
    def chosen(self) -> tuple[str, str]:
        """The source of the gold: RECORDS or FILE with the benchmark's key, or EARLIER with the
        version of the release.
        """
        kind, _, benchmark = self.cleaned_data.get("source", "").partition(":")
        return kind, benchmark

    def order(self) -> FreezeOrder:
        """The release to freeze."""
        data = self.cleaned_data
        source, benchmark = self.chosen
        split: dict[str, Any] = {"split_by": data.get("split") or NO_SPLIT}
        if split["split_by"] == DRAW:
            split |= {"test_share": data["test_share"] / 100, "seed": data["seed"]}
            split["group_by"] = data["group_by"] or FILING
        return FreezeOrder(
            source=source,
            benchmark="" if source == EARLIER else benchmark,
            base=benchmark if source == EARLIER else "",
            file_name=data["file"].name if source == FILE else "",
            labels=list(self.label_set()),
            citation=self.citation(),
            accept_overlaps=self.accepted_overlaps(),
            **{name: data[name] for name in ("version", "notes", "visibility", "licence")},
            **split,
        )

    @property
    def upload(self) -> "UploadedFile[bytes] | None":
        return self.cleaned_data["file"] if self.chosen[0] == FILE else None

    def label_set(self) -> Sequence[str]:
        named = [label.strip() for label in self.cleaned_data["labels"].split(",")]
        return [label for label in named if label]


def source_choices(dataset: Dataset) -> list[tuple[str, str]]:
    """The benchmarks with records in the dataset, a file of any benchmark, the newest release."""
    kept = DocumentRecord.objects.filter(document__dataset=dataset)
    found = set(kept.order_by().values_list("benchmark", flat=True).distinct())
    formats = gold_formats()
    records = [
        (f"{RECORDS}:{each.key}", f"Imported records: {each.title}")
        for each in formats
        if each.key in found
    ]
    files = [(f"{FILE}:{each.key}", f"Gold file: {each.title}") for each in formats]
    newest = dataset.releases.order_by("-pk").values_list("version", flat=True)[:1]
    earlier = [
        (f"{EARLIER}:{version}", f"Release {version}, with corrections from accepted disputes")
        for version in newest
    ]
    return [*records, *files, *earlier]


class RestoreForm(UploadForm):
    """Uploads the archive of a release to restore."""

    archive = forms.FileField(
        label="Release archive",
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip"}),
    )

    @property
    def upload(self) -> "UploadedFile[bytes]":
        upload: UploadedFile[bytes] = self.cleaned_data["archive"]
        return upload

    def accepted_overlaps(self) -> int:
        return accepted_number(self.data)

    def offer_overlaps(self, count: int) -> None:
        offer_overlaps(self, count)


class AcceptLicenceForm(forms.Form):
    accept = forms.BooleanField(
        label="I accept this licence",
        error_messages={"required": "Accept the licence to download the release."},
    )
