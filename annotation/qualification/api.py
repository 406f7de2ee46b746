"""The API of qualification rounds and annotators' quality."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import CampaignAccess, led_campaign, managed_campaign, qualified_campaign
from annotation.api_base import AnnotationRefusal, AnnotationView, user_of
from annotation.models import Assignment, Membership
from annotation.spans import Tally
from portal.accounts.models import User
from portal.web.answers import answer
from portal.web.api import checked

from .quality import (
    PERIODS,
    WEEK,
    AnnotatorQuality,
    CampaignQuality,
    Finding,
    PageFindings,
    Part,
    Side,
    campaign_quality,
    page_findings,
)
from .selectors import (
    RoundPage,
    SourceRow,
    campaign_qualification,
    find_source,
    own_round,
    source_rows,
)
from .services import (
    MAX_PAGES,
    MAX_REASON,
    MAX_SEED,
    add_qualification,
    grant_qualification_try,
    qualify_by_decision,
)

KnownSpan = answer(
    Side,
    "KnownSpan",
    leave_out=["css", "context"],
    quote=serializers.CharField(source="context.quote"),
)
QualificationFinding = answer(
    Finding,
    "QualificationFinding",
    outcome=serializers.CharField(help_text="right, label, boundary, missed or extra."),
)


class QualificationTry(serializers.Serializer[Any]):
    attempt = serializers.IntegerField()
    matched = serializers.IntegerField(help_text="Marks with the offsets and label of a fact.")
    marked = serializers.IntegerField()
    expected = serializers.IntegerField(help_text="Known facts.")


class QualificationPage(serializers.Serializer[Any]):
    document = serializers.CharField(source="name")
    assignment = serializers.IntegerField(source="assignment.pk", default=None, allow_null=True)
    state = serializers.ChoiceField(
        source="assignment.state", choices=Assignment.State.choices, default=None, allow_null=True
    )
    f1 = serializers.FloatField(allow_null=True, help_text="Span F1 of the last try.")
    tries = QualificationTry(source="results", many=True)


class OwnQualificationPage(QualificationPage):
    findings = QualificationFinding(
        many=True, help_text="Right and wrong facts; empty unless the page is submitted."
    )


class QualificationRound(serializers.Serializer[Any]):
    qualified = serializers.BooleanField(source="is_qualified")
    qualified_at = serializers.DateTimeField(allow_null=True)
    failed = serializers.BooleanField(source="has_failed")
    f1 = serializers.FloatField(
        allow_null=True, help_text="Over the last tries at all pages; null until all are submitted."
    )
    facts = serializers.IntegerField(help_text="Known facts of the submitted pages.")


class OwnQualification(QualificationRound):
    pages = OwnQualificationPage(many=True)


class AnnotatorQualification(QualificationRound):
    id = serializers.IntegerField(source="member.pk", help_text="Id of the membership.")
    annotator = serializers.CharField(source="name")
    reason = serializers.CharField(help_text="Why they were qualified by decision, or empty.")
    pages = QualificationPage(many=True)


KnownPage = answer(
    RoundPage, "KnownPage", leave_out=["name"], document=serializers.CharField(source="name")
)
GoldSource = answer(
    SourceRow,
    "GoldSource",
    leave_out=["key"],
    source=serializers.CharField(source="key", help_text="`release:ID` or `campaign:SLUG`."),
)


class CampaignQualification(serializers.Serializer[Any]):
    threshold = serializers.FloatField(help_text="The F1 required to pass.")
    own = OwnQualification(allow_null=True, help_text="Null unless you are an annotator.")
    annotators = AnnotatorQualification(many=True, help_text="Only for leads and organisers.")
    pages = KnownPage(many=True, help_text="Only for leads and organisers.")
    sources = GoldSource(many=True, help_text="Only for leads and organisers.")


class NewQualification(serializers.Serializer[Any]):
    source = serializers.CharField(  # type: ignore[assignment]
        max_length=100, help_text="One of `sources`."
    )
    names = serializers.ListField(
        child=serializers.CharField(max_length=160),
        required=False,
        default=list,
        max_length=MAX_PAGES,
    )
    count = serializers.IntegerField(
        required=False, default=0, min_value=1, max_value=MAX_PAGES,
        help_text="Number of pages to draw, instead of `names`.",
    )  # fmt: skip
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MAX_SEED)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if bool(attrs["names"]) == bool(attrs["count"]):
            raise serializers.ValidationError("Give either names or count.")
        return attrs


class AddedQualification(serializers.Serializer[Any]):
    documents = serializers.ListField(child=serializers.CharField())


class GrantedTry(serializers.Serializer[Any]):
    pages = serializers.IntegerField(help_text="Number of reopened pages.")


class QualifyingDecision(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=MAX_REASON)


class Qualified(serializers.Serializer[Any]):
    qualified_at = serializers.DateTimeField()


GoldTally = answer(
    Tally,
    "GoldTally",
    expected="Facts of the gold.",
    precision=serializers.FloatField(allow_null=True),
    recall=serializers.FloatField(allow_null=True),
    f1=serializers.FloatField(allow_null=True),
)
QualityPart = answer(Part, "QualityPart")
AnnotatorQualityRow = answer(
    AnnotatorQuality,
    "AnnotatorQualityRow",
    leave_out=["user", "name", "line"],
    annotator=serializers.CharField(source="name"),
    submitted="Submitted pages.",
    gold_pages="Gold pages that count.",
    minutes="Median of active minutes over fully submitted pages.",
    timed="Pages with a measured time.",
)
QualityAnswer = answer(
    CampaignQuality,
    "AnnotatorQuality",
    leave_out=["labels", "lowest"],
    pages="Gold pages with two or more annotators.",
    single="Gold pages with one annotator, which are excluded.",
)


class CampaignQualificationView(AnnotationView):
    @extend_schema(
        summary="Get the qualification round of a campaign (annotators, leads, organisers)",
        description="Annotators get their own results, with right and wrong facts of submitted "
        "pages. Leads and organisers get the results of all annotators.",
        tags=["campaigns"],
        responses=CampaignQualification,
    )
    def get(self, request: Request, slug: str) -> Response:
        access = qualified_campaign(request.user, slug)
        body = {
            "threshold": access.campaign.qualification_f1,
            "own": _own(access, user_of(request)),
            **_managed(access, user_of(request)),
        }
        return Response(body)

    @extend_schema(
        summary="Add pages with known gold to the round (leads, organisers)",
        description="Assigns the pages to every annotator who is not qualified. They must pass "
        "before the campaign's own pages open.",
        tags=["campaigns"],
        request=NewQualification,
        responses={201: AddedQualification, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        wanted = checked(NewQualification, request.data)
        source = find_source(request.user, access.campaign, wanted.pop("source"))
        if source is None:
            raise ValidationError({"source": ["Choose one of `sources`."]})
        names = add_qualification(
            campaign=access.campaign, source=source, actor=user_of(request), **wanted
        )
        return Response({"documents": names}, status=status.HTTP_201_CREATED)


def _own(access: CampaignAccess, user: User) -> dict[str, Any] | None:
    own = own_round(access, user.pk)
    if own is None:
        return None
    body: dict[str, Any] = dict(QualificationRound(own).data)
    found = {item.page.name: item for item in page_findings(access.campaign, own)}
    body["pages"] = [
        {
            **QualificationPage(page).data,
            "findings": QualificationFinding(_findings(found.get(page.name)), many=True).data,
        }
        for page in own.pages
    ]
    return body


def _findings(page: PageFindings | None) -> tuple[Finding, ...]:
    return (*page.errors, *page.right) if page else ()


def _managed(access: CampaignAccess, user: User) -> dict[str, Any]:
    if not access.may_manage:
        return {"annotators": [], "pages": [], "sources": []}
    found = campaign_qualification(access.campaign)
    sources = source_rows(user, access.campaign)
    return {
        "annotators": AnnotatorQualification(found.annotators, many=True).data,
        "pages": KnownPage(found.pages, many=True).data,
        "sources": GoldSource(sources, many=True).data,
    }


class QualificationTryView(AnnotationView):
    @extend_schema(
        summary="Grant an annotator another try (leads, organisers)",
        description="`id` is the id of the membership. Reopens every page with an error.",
        tags=["campaigns"],
        request=None,
        responses={200: GrantedTry, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        access = managed_campaign(request.user, slug)
        pages = grant_qualification_try(
            campaign=access.campaign, user=_annotator(access, pk), actor=user_of(request)
        )
        return Response({"pages": pages})


class QualificationDecision(AnnotationView):
    @extend_schema(
        summary="Qualify an annotator by decision (leads, organisers)",
        description="`id` is the id of the membership. The reason is stored with the decision.",
        tags=["campaigns"],
        request=QualifyingDecision,
        responses={200: Qualified, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        access = managed_campaign(request.user, slug)
        body = checked(QualifyingDecision, request.data)
        member = qualify_by_decision(
            campaign=access.campaign,
            user=_annotator(access, pk),
            reason=body["reason"],
            actor=user_of(request),
        )
        return Response(Qualified(member).data)


def _annotator(access: CampaignAccess, pk: int) -> User:
    members = access.campaign.memberships.filter(role=Membership.Role.ANNOTATOR)
    return get_object_or_404(members.select_related("user"), pk=pk).user


class CampaignAnnotatorQuality(AnnotationView):
    @extend_schema(
        summary="Get the quality of annotators over time (leads)",
        description="Compares first submissions with gold, on gold pages with two or more "
        "annotators.",
        tags=["campaigns"],
        parameters=[
            OpenApiParameter(
                "every",
                OpenApiTypes.STR,
                enum=list(PERIODS),
                default=WEEK,
                description="The period: a week, or a number of gold pages.",
            )
        ],
        responses=QualityAnswer,
    )
    def get(self, request: Request, slug: str) -> Response:
        access = led_campaign(request.user, slug)
        every = request.query_params.get("every", WEEK)
        if every not in PERIODS:
            raise ValidationError({"every": [f"must be one of {', '.join(PERIODS)}"]})
        return Response(QualityAnswer(campaign_quality(access.campaign, every)).data)
