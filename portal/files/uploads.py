"""Limits the size of uploads while they arrive."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from rest_framework import serializers, status
from rest_framework.exceptions import APIException

from .archives import ArchiveLimits

# The attribute of the request that the handler sets for the view.
_NOTE = "upload_too_large"


class LimitedUploadHandler(FileUploadHandler):
    """Stops uploads that exceed UPLOAD_LIMIT, and marks the request for the form.

    Counts the received bytes, because Content-Length may be false.
    """

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self._received += len(raw_data)
        if self._received > settings.UPLOAD_LIMIT:
            if self.request is not None:
                setattr(self.request, _NOTE, True)
            # Read the rest, so that the browser shows the response and not a connection error.
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


def upload_limit_message() -> str:
    return f"The file is larger than {settings.UPLOAD_LIMIT // settings.MEGABYTE} MB."


def was_too_large(request: Any) -> bool:
    """Whether this request's upload was stopped for its size."""
    return bool(getattr(request, _NOTE, False))


class UploadForm(forms.Form):
    """A form with a required file. If the upload was stopped, it reports the size instead."""

    def __init__(self, *args: Any, too_large: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values() if too_large else ():
            if isinstance(field, forms.FileField):
                field.error_messages["required"] = upload_limit_message()


class UploadTooLarge(APIException):
    """The API's answer to an upload that was stopped for its size."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"

    def __init__(self) -> None:
        self.message = upload_limit_message()
        super().__init__({"file": [self.message]})


def checked_upload(shape: type[serializers.BaseSerializer[Any]], request: Any) -> Any:
    """Return the validated body of an API request. Raises UploadTooLarge, and ValidationError."""
    body = shape(data=request.data)
    # After `data`, which reads the body. The file was cut off, so it must not count as missing.
    if was_too_large(request):
        raise UploadTooLarge
    body.is_valid(raise_exception=True)
    return body.validated_data


def archive_limits() -> ArchiveLimits:
    """The limits from the settings, for readers that do not import Django."""
    return ArchiveLimits(
        total=settings.ARCHIVE_TOTAL_LIMIT,
        member=settings.ARCHIVE_MEMBER_LIMIT,
        ratio=settings.ARCHIVE_RATIO_LIMIT,
        members=settings.ARCHIVE_MEMBERS_LIMIT,
    )
