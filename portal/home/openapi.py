"""The OpenAPI document, generated once per web process, with error responses and enum names.

Common error responses are added here, unless an endpoint documents its own. Enums of fields such as
`state` and `visibility` have names in ENUM_NAME_OVERRIDES; otherwise they would be named by hashes.
"""

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.http import HttpResponse
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

from annotation.models import (
    Assignment,
    Campaign,
    CampaignImport,
    Case,
    ReviewItem,
    ReviewRound,
    Screening,
)
from annotation.review.api import GIVEN_VERDICTS
from annotation.workbench.selectors import OUTCOMES
from portal.datasets.models import (
    Batch,
    Dataset,
    DatasetTask,
    Dispute,
    Document,
    DocumentType,
    ImportRun,
    NearDuplicate,
    PiiFinding,
    Release,
)
from portal.web.api import JSON, ErrorSerializer
from scoring.models import Board, Regrade, Submission


class _Document(NamedTuple):
    content: bytes
    content_type: str
    disposition: str


# Generating it takes seconds and much memory, and is not thread-safe.
_one_at_a_time = threading.Lock()
_kept: dict[str, _Document] = {}


class SchemaView(SpectacularAPIView):
    """The same for all users: permissions do not change the document."""

    def _get_schema_response(self, request: Request) -> HttpResponse:
        kind = request.accepted_renderer.media_type
        with _one_at_a_time:
            if kind not in _kept:
                _kept[kind] = self._make(request)
            document = _kept[kind]
        return HttpResponse(
            document.content,
            content_type=document.content_type,
            headers={"Content-Disposition": document.disposition},
        )

    def _make(self, request: Request) -> _Document:
        made: Any = super()._get_schema_response(request)  # type: ignore[no-untyped-call]
        made.accepted_renderer = request.accepted_renderer
        made.accepted_media_type = request.accepted_media_type
        made.renderer_context = self.get_renderer_context()
        made.render()
        return _Document(made.content, made["Content-Type"], made["Content-Disposition"])


# Component schemas: one sentence, or errors by field.
ERROR, INVALID = "Error", "Invalid"
COMPONENTS = {
    ERROR: {
        "type": "object",
        "description": ErrorSerializer.__doc__,
        "properties": {"detail": {"type": "string"}},
        "required": ["detail"],
    },
    INVALID: {
        "type": "object",
        "description": "Errors by field: messages, or nested errors for a list or an object; "
        "`detail` for errors of the whole request.",
        "additionalProperties": {},
    },
}


def document_errors(result: Any, **_: Any) -> Any:
    """A hook of drf-spectacular that adds the common error responses to each operation."""
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(COMPONENTS)
    for path, operations in result["paths"].items():
        for operation in operations.values():
            for status, component, words in _refusals(path, operation):
                shape = {"$ref": f"#/components/schemas/{component}"}
                answer = {"content": {JSON: {"schema": shape}}, "description": words}
                operation["responses"].setdefault(status, answer)
    return result


def _refusals(path: str, operation: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    has_body = "requestBody" in operation
    if has_body or any(each["in"] == "query" for each in operation.get("parameters", ())):
        yield "400", INVALID, "The request is not valid."
    yield "401", ERROR, "Authentication is required, or the token is invalid."
    yield "403", ERROR, "The account or token does not have permission."
    if "{" in path:
        yield "404", ERROR, "Not found, or not visible to this account."
    if has_body:
        yield "413", ERROR, "The body is too large."
        yield "415", ERROR, "The content type is not supported."


ASSIGNMENT_FLAG = Assignment.Flag.choices
ASSIGNMENT_STATE = Assignment.State.choices
BOARD_STATE = Board.State.choices
CAMPAIGN_STATE = Campaign.State.choices
CASE_KIND = Case.Kind.choices
CASE_STATE = Case.State.choices
LABEL_FILE_FORM = CampaignImport.Form.choices
# Files with labels, and with suggestions.
LABEL_FILE_STATE = CampaignImport.State.choices
REVIEW_GIVEN_VERDICT = GIVEN_VERDICTS
OWN_GOLD_OUTCOME = [(outcome, outcome) for outcome in OUTCOMES]
REVIEW_ROUND_STATE = ReviewRound.State.choices
REVIEW_VERDICT = ReviewItem.Verdict.choices
SCREENING_VERDICT = Screening.Verdict.choices
IMPORT_FORM = ImportRun.Form.choices
DATASET_TASK_KIND = DatasetTask.Kind.choices
BATCH_STATE = Batch.State.choices
AUDIT_STATE = [(state, state) for state in ("incomplete", "accepted", "rejected")]
DISPUTE_STATE = Dispute.State.choices
SUBMISSION_VERDICT = [choice for choice in Submission.Verdict.choices if choice[0]]
REGRADE_STATE = Regrade.State.choices
DOCUMENT_TYPE = DocumentType.choices
DOCUMENT_KIND = Document.Kind.choices
DOCUMENT_STATE = Document.State.choices
FINDING_KIND = PiiFinding.Kind.choices
FINDING_DECISION = PiiFinding.Decision.choices
FINDING_GIVEN_DECISION = [("kept", "kept"), ("masked", "masked")]
DUPLICATE_DECISION = NearDuplicate.Decision.choices
DATASET_VISIBILITY = Dataset.Visibility.choices
RELEASE_VISIBILITY = Release.Visibility.choices
# Imports and gradings.
WORK_STATE = ImportRun.State.choices
