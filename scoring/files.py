"""Uploaded files as HTTP responses. Access is the caller's business."""

from django.http import FileResponse

from .models import Submission


def upload_response(submission: Submission, *, name: str = "") -> FileResponse:
    """The file as it was uploaded, always as a download: never opened as a page of ours.

    `name` is what it is called then; by default what its owner called it.
    """
    response = FileResponse(
        submission.upload.open("rb"),
        as_attachment=True,
        filename=name or submission.filename,
        content_type="application/octet-stream",
    )
    response["Cache-Control"] = "private"
    response["X-Content-Type-Options"] = "nosniff"
    return response
