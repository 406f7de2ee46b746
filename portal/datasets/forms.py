"""Forms of the dataset manager."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from portal.files.archives import ArchiveFault
from portal.files.uploads import upload_limit_message

from .models import Dataset, DocumentType, ImportRun
from .services.imports import check_source
from .sources.forms import BENCHMARKS, suffixes_alone
from .sources.pictures import Picture, PictureError, check_picture

# What each layout of an import is, in a sentence.
LAYOUTS: dict[str, str] = {
    ImportRun.Form.PAGES: "pages/ID.html, with images/ID.png and meta.jsonl if there are any.",
    ImportRun.Form.FILING: "Filings as EDGAR has them, with or without inline XBRL: each is split "
    "into its pages, and type, company and year are guessed.",
    ImportRun.Form.FINCRITICALED: "A table with the page in matched_html and its picture in image; "
    "beside it, if there is any, gold: pages with fact tags in a folder gold/.",
    ImportRun.Form.LABEL_STUDIO: "An export of tasks that hold their HTML; the ground truth, or "
    "the only annotation, is kept as gold.",
    ImportRun.Form.FCMBENCH: "JSON Lines of questions, and the pictures that they name.",
    ImportRun.Form.CCOCR: "index.json, and a folder with label.json and images/ for each subset.",
    ImportRun.Form.RECEIPTS: "One JSON file per picture, of the same name.",
    ImportRun.Form.PARQUET: "One row per document, with pictures embedded, or with html.",
}


class Layout(NamedTuple):
    """A layout to choose: its radio button, a sentence, the endings of files it takes."""

    radio: Any
    about: str
    endings: tuple[str, ...]


class EditDatasetForm(forms.ModelForm):  # type: ignore[type-arg]
    """What may change of a dataset; the service writes it."""

    class Meta:
        model = Dataset
        fields = ["title", "description", "licence", "visibility"]


class DatasetForm(EditDatasetForm):
    class Meta(EditDatasetForm.Meta):
        fields = ["title", "slug", "description", "licence", "visibility"]
        labels = {"slug": "Short name"}


class DocumentSearchForm(forms.Form):
    """Search and filter of the documents; an unknown type filters nothing."""

    q = forms.CharField(
        required=False,
        max_length=100,
        label="Search",
        widget=forms.TextInput(attrs={"type": "search", "placeholder": "Name or company"}),
    )
    type = forms.ChoiceField(
        required=False, label="Type", choices=[("", "All types"), *DocumentType.choices]
    )

    def wanted(self) -> dict[str, str]:
        """The valid part of what was asked for, as arguments of the selector."""
        self.is_valid()
        return {
            "query": self.cleaned_data.get("q", "").strip(),
            "doc_type": self.cleaned_data.get("type", ""),
        }


class ImportForm(forms.Form):
    """A layout and a file of it, which is looked through before it is accepted."""

    form = forms.ChoiceField(
        label="What it is",
        choices=ImportRun.Form.choices,
        initial=ImportRun.Form.PAGES,
        required=False,
        widget=forms.RadioSelect,
    )
    file = forms.FileField(label="File", widget=forms.ClearableFileInput)
    benchmark = forms.ChoiceField(
        label="Benchmark of the rows",
        required=False,
        choices=[("", "none: pages or pictures without gold"), *((b, b) for b in BENCHMARKS)],
        help_text="Only for Parquet: the columns left over are kept as gold of this benchmark.",
    )

    def __init__(self, *args: Any, too_large: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        file = self.fields["file"]
        file.help_text = (
            "A ZIP, or a single file where the layout takes one."
            f" At most {settings.UPLOAD_LIMIT // settings.MEGABYTE} MB."
        )
        if too_large:
            # The upload was stopped and is not there; to call it missing would mislead.
            file.error_messages["required"] = upload_limit_message()

    def layouts(self) -> list[Layout]:
        """The choices of the layout, each with what it is and which files it takes."""
        return [
            Layout(radio, LAYOUTS[radio.data["value"]], suffixes_alone(radio.data["value"]))
            for radio in self["form"]
        ]

    def clean_form(self) -> str:
        return self.cleaned_data["form"] or ImportRun.Form.PAGES

    def clean(self) -> dict[str, Any]:
        """Looks through the file once everything else is right."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if {"form", "file"} <= data.keys():
            try:
                check_upload(data["file"], data["form"], data.get("benchmark", ""))
            except ValidationError as error:
                self.add_error("file", error)
        return data


def check_upload(
    upload: "UploadedFile[bytes]", form: str = ImportRun.Form.PAGES, benchmark: str = ""
) -> None:
    """Raises ValidationError for a file that cannot be imported as a whole."""
    name = upload.name or ""
    try:
        check_source(upload.file, form, name=name, benchmark=benchmark)  # type: ignore[arg-type]
    except ArchiveFault as fault:
        raise ValidationError(f"{name}: {fault}", code=fault.code) from fault
    upload.seek(0)


class ImageForm(forms.Form):
    """An image of one document; `picture` is what was found in it, `numbers` are those of the
    images that it may replace.
    """

    picture: Picture
    file = forms.FileField(
        label="Image of the page",
        widget=forms.ClearableFileInput(attrs={"accept": "image/png,image/jpeg"}),
        help_text="PNG or JPEG.",
    )
    replaces = forms.TypedChoiceField(
        required=False, coerce=int, empty_value=None, label="Where it goes"
    )

    def __init__(
        self, *args: Any, numbers: Sequence[int], too_large: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        replaces = self.fields["replaces"]
        assert isinstance(replaces, forms.ChoiceField)
        replaces.choices = [
            ("", "behind the others"),
            *((number, f"in place of image {number}") for number in numbers),
        ]
        if not numbers:
            del self.fields["replaces"]
        if too_large:
            self.fields["file"].error_messages["required"] = upload_limit_message()

    def clean_file(self) -> "UploadedFile[bytes]":
        upload: UploadedFile[bytes] = self.cleaned_data["file"]
        self.picture = read_picture(upload)
        return upload


def read_picture(upload: "UploadedFile[bytes]") -> Picture:
    """The image in an upload; raises ValidationError with the reason."""
    if (upload.size or 0) > settings.ARCHIVE_MEMBER_LIMIT:
        limit = settings.ARCHIVE_MEMBER_LIMIT // settings.MEGABYTE
        raise ValidationError(f"{upload.name}: larger than {limit} MB", code="too_large")
    try:
        return check_picture(upload.read())
    except PictureError as error:
        raise ValidationError(f"{upload.name}: {error}", code=error.code) from error
