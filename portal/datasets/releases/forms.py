"""Forms around releases: the terms under which one is frozen, where its gold comes from, and the
acceptance of a licence.
"""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict

from portal.datasets.curation.draws import COMPANY, FILING, NOTHING, SplitDraw
from portal.datasets.models import Dataset, DocumentRecord, Release
from portal.datasets.models.releases import Version
from portal.datasets.releases.publishing.croissant import read_citation
from portal.files.uploads import upload_limit_message

from .freezing import COLUMN, DRAW, EARLIER, FILE, NO_SPLIT, RECORDS, FreezeOrder
from .gold import gold_formats

_SPLITS = [
    (NO_SPLIT, "none: one piece"),
    (DRAW, "drawn by lot, by type of document"),
    (COLUMN, "as the field “split” of record or metadata says"),
]
GROUPS = [
    (FILING, "the pages of a filing"),
    (COMPANY, "all documents of a company"),
    (NOTHING, "nothing: each document by itself"),
]
LARGEST_SEED = 2**53


class ReleaseTermsForm(forms.Form):
    """Version, visibility, licence, citation, splits and notes of a release that is frozen."""

    version = forms.CharField(max_length=32, help_text="Semantic version, such as 1.0.0.")
    visibility = forms.ChoiceField(
        choices=Release.Visibility.choices, initial=Release.Visibility.GOLD_HIDDEN
    )
    split = forms.ChoiceField(
        required=False,
        label="Split",
        choices=_SPLITS,
        initial=NO_SPLIT,
        help_text="With hidden gold the development part is open; of the test part only images, "
        "ids and prompts are.",
    )
    test_share = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=99,
        initial=50,
        label="Test part, per cent",
        help_text="Of a drawn split. What an earlier release had in a part stays in it.",
    )
    group_by = forms.ChoiceField(
        required=False,
        label="Keep together",
        choices=GROUPS,
        initial=FILING,
        help_text="Of a drawn split: pages of one group come into the same part. A filing is known "
        "by the metadata “filing” or by the name before the page, as in acme_p012.",
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST_SEED,
        initial=1,
        help_text="Of a drawn split: the same seed draws the same again.",
    )
    licence = forms.CharField(
        required=False,
        max_length=160,
        help_text="Has to be accepted before a download, such as CC-BY-4.0; empty: nothing has.",
    )
    authors = forms.CharField(
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="To cite the release by: one a line, people as “Family, Given”.",
    )
    year = forms.IntegerField(required=False, min_value=1900, max_value=2200)
    doi = forms.CharField(required=False, max_length=200, label="DOI")
    url = forms.CharField(required=False, max_length=500, label="Address to cite")
    notes = forms.CharField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="What is new in this version, for everybody to read. Markdown.",
    )

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
                    self.add_error(name, "Needed to draw a split.")
        return data

    def citation(self) -> dict[str, Any]:
        """What was said of it, without what was left empty."""
        given = {name: self.cleaned_data.get(name) for name in ("authors", "year", "doi", "url")}
        return {name: value for name, value in given.items() if value}

    def draw(self) -> SplitDraw | None:
        """How to draw the split, if it is to be drawn."""
        if self.cleaned_data.get("split") != DRAW:
            return None
        data = self.cleaned_data
        return SplitDraw(data["test_share"] / 100, data["seed"], data["group_by"] or FILING)

    @property
    def split_is_given(self) -> bool:
        return bool(self.cleaned_data.get("split") == COLUMN)

    def show_notes(self, notes: str) -> None:
        """Puts other notes into the form as it is shown again."""
        self.data = MultiValueDict(self.data)
        self.data["notes"] = notes


class NewReleaseForm(ReleaseTermsForm):
    """A release without a campaign: of records, or of a file of gold."""

    source = forms.ChoiceField(label="Gold", help_text="Where it comes from.")
    file = forms.FileField(
        required=False,
        label="File of gold",
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,.jsonl,.gz"}),
    )
    labels = forms.CharField(
        required=False,
        max_length=400,
        initial="Number, Date",
        help_text="The labels of the facts, where gold is pages with tags.",
    )
    field_order = ("source", "file", "labels")

    def __init__(
        self, *args: Any, dataset: Dataset, too_large: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        source = self.fields["source"]
        assert isinstance(source, forms.ChoiceField)
        source.choices = source_choices(dataset)
        file = self.fields["file"]
        file.help_text = (
            "A ZIP, JSON Lines or gzipped JSON Lines, of at most "
            f"{settings.UPLOAD_LIMIT // settings.MEGABYTE} MB."
        )
        self._too_large = too_large

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if self._too_large:
            self.add_error("file", upload_limit_message())
        elif self.chosen[0] == FILE and not data.get("file"):
            self.add_error("file", "Choose the file with the gold.")
        return data

    @property
    def chosen(self) -> tuple[str, str]:
        """Where the gold comes from, RECORDS or FILE with the key of its benchmark, or EARLIER with
        the release's version.
        """
        kind, _, benchmark = self.cleaned_data.get("source", "").partition(":")
        return kind, benchmark

    def order(self) -> FreezeOrder:
        """What is to be frozen."""
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
    """Records of benchmarks that the dataset has, a file of each, then the newest release."""
    kept = DocumentRecord.objects.filter(document__dataset=dataset)
    found = set(kept.order_by().values_list("benchmark", flat=True).distinct())
    formats = gold_formats()
    records = [
        (f"{RECORDS}:{each.key}", f"the records of {each.title} in this dataset")
        for each in formats
        if each.key in found
    ]
    files = [(f"{FILE}:{each.key}", f"a file of {each.title}") for each in formats]
    newest = dataset.releases.order_by("-pk").values_list("version", flat=True)[:1]
    earlier = [
        (f"{EARLIER}:{version}", f"release {version}, with the corrections of accepted disputes")
        for version in newest
    ]
    return [*records, *files, *earlier]


class RestoreForm(forms.Form):
    """An archive of a release, to be restored."""

    archive = forms.FileField(
        label="Archive of a release",
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip"}),
    )

    def __init__(self, *args: Any, too_large: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if too_large:
            # The upload was stopped and is not there; to call it missing would mislead.
            self.fields["archive"].error_messages["required"] = upload_limit_message()

    @property
    def upload(self) -> "UploadedFile[bytes]":
        upload: UploadedFile[bytes] = self.cleaned_data["archive"]
        return upload


class AcceptLicenceForm(forms.Form):
    accept = forms.BooleanField(
        label="I accept this licence",
        error_messages={"required": "Without this there is no download."},
    )
