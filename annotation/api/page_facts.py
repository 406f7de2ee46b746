"""What our rules say about a page, for snapping and suggestions, and about the spans on it."""

import hashlib
import json
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_cache_control
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import own_assignment, own_text
from annotation.models import CampaignDocument
from annotation.selectors.page_facts import page_facts
from annotation.selectors.spans import stored_spans
from annotation.selectors.suggestions import page_suggestions
from portal.datasets.selectors.page_images import document_boxes

from . import schemas
from .base import AnnotationView
from .saves import span_remarks


class AssignmentFacts(AnnotationView):
    @extend_schema(
        summary="The numbers and dates of one of my pages, and what is suggested",
        description="`facts`: [start, end, `number` or `date`], by rules, for selections to snap "
        "to. `suggestions`: [start, end, label, source], none unless the campaign shows them; "
        "after that what a filer said of it, if that is known.",
        tags=["annotation"],
        responses=schemas.PageFacts,
    )
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        # The page never changes, but our rules and the campaign's suggestions may.
        return _kept_answer(request, _facts(own_assignment(request.user, pk).campaign_document))


class AssignmentBoxes(AnnotationView):
    @extend_schema(
        summary="Where the text of one of my pages lies on its images",
        description="For images that were rendered here: [start, end, left, top, width, height] of "
        "each word, in code points of the canonical text and pixels of the image.",
        tags=["annotation"],
        responses=schemas.PageBoxes,
    )
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        document = own_assignment(request.user, pk).campaign_document.document_id
        return _kept_answer(request, {"images": document_boxes(document)})


def _kept_answer(request: Request, content: dict[str, Any]) -> HttpResponseBase:
    """An answer that a browser keeps and asks after; it is sent again only once it has changed."""
    body = json.dumps(content, separators=(",", ":")).encode()
    response = HttpResponse(body, content_type="application/json")
    etag = f'"{hashlib.sha256(body).hexdigest()}"'
    response["ETag"] = etag
    patch_cache_control(response, private=True, no_cache=True)
    conditional = get_conditional_response(request._request, etag=etag, response=response)
    return conditional or response


def _facts(campaign_document: CampaignDocument) -> dict[str, Any]:
    facts = page_facts(campaign_document.document).facts
    return {
        "facts": [[fact.start, fact.end, fact.kind] for fact in facts],
        "suggestions": [
            one if one.details else one[:-1] for one in page_suggestions(campaign_document)
        ],
    }


class AssignmentWarnings(AnnotationView):
    @extend_schema(
        summary="What looks wrong with the saved spans of one of my assignments",
        description="Only spans with a warning are listed. A save tells the same of what it adds.",
        tags=["annotation"],
        responses=schemas.SpanWarnings,
    )
    def get(self, request: Request, pk: int) -> Response:
        assignment = own_text(request.user, pk)
        remarks = span_remarks(assignment, stored_spans(assignment))
        odd = [remark for remark in remarks if remark["warnings"]]
        return Response({"revision": assignment.revision, "spans": odd})
