"""Forms of the dataset manager."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from portal.common.archives import ArchiveFault
from portal.common.uploads import upload_limit_message

from .models import Dataset, DocumentType
from .services.imports import check_source


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
    """An archive that is looked through before it is accepted."""

    file = forms.FileField(
        label="ZIP archive",
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip"}),
    )

    def __init__(self, *args: Any, too_large: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        file = self.fields["file"]
        file.help_text = f"At most {settings.UPLOAD_LIMIT // settings.MEGABYTE} MB."
        if too_large:
            # The upload was stopped and is not there; to call it missing would mislead.
            file.error_messages["required"] = upload_limit_message()

    def clean_file(self) -> "UploadedFile[bytes]":
        upload: UploadedFile[bytes] = self.cleaned_data["file"]
        check_upload(upload)
        return upload


def check_upload(upload: "UploadedFile[bytes]") -> None:
    """Raises ValidationError for an archive that cannot be imported as a whole."""
    try:
        check_source(upload.file)  # type: ignore[arg-type]  # some open binary file
    except ArchiveFault as fault:
        raise ValidationError(f"{upload.name}: {fault}", code=fault.code) from fault
    upload.seek(0)
