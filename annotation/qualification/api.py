"""The API of qualification rounds and annotators' quality."""

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from annotation.access import (
    CampaignAccess,
    annotator_member,
    led_campaign,
    managed_campaign,
    qualified_campaign,
)
from annotation.api_base import AnnotationView, reads, user_of, writes
from annotation.models import Assignment, Campaign
from annotation.spans import Tally
from portal.accounts.models import User
from portal.web.answers import answer

from . import quality, selectors
from .services import (
    MAX_PAGES,
    MAX_REASON,
    MAX_SEED,
    add_qualification,
    grant_qualification_try,
    qualify_by_decision,
)

KnownSpan = answer(
    quality.Side,
    "KnownSpan",
    leave_out=["css", "context"],
    quote=serializers.CharField(source="context.quote"),
)
QualificationFinding = answer(
    quality.Finding,
    "QualificationFinding",
    outcome=serializers.CharField(help_text="right, label, boundary, missed or extra."),
)


class QualificationTry(serializers.Serializer[Any]):
    attempt = serializers.IntegerField()
    matched = serializers.IntegerField(help_text="Labels with the offsets and name of a fact.")
    marked = serializers.IntegerField()
    expected = serializers.IntegerField(help_text="Known facts.")


class QualificationPage(serializers.Serializer[Any]):
    document = serializers.CharField(source="name")
    assignment = serializers.IntegerField(source="assignment.pk", default=None, allow_null=True)
    state = serializers.ChoiceField(
        source="assignment.state", choices=Assignment.State.choices, default=None, allow_null=True
    )
    f1 = serializers.FloatField(allow_null=True, help_text="Span F1 of the last attempt.")
    tries = QualificationTry(source="results", many=True)


class OwnQualificationPage(QualificationPage):
    findings = QualificationFinding(
        many=True, help_text="Right and wrong facts; empty unless the document is submitted."
    )


class QualificationRound(serializers.Serializer[Any]):
    qualified = serializers.BooleanField(source="is_qualified")
    qualified_at = serializers.DateTimeField(allow_null=True)
    failed = serializers.BooleanField(source="has_failed")
    f1 = serializers.FloatField(
        allow_null=True,
        help_text="Over the last attempts at all documents; null until all are submitted.",
    )
    facts = serializers.IntegerField(help_text="Facts of the submitted documents.")


class OwnQualification(QualificationRound):
    pages = OwnQualificationPage(many=True)


class AnnotatorQualification(QualificationRound):
    id = serializers.IntegerField(source="member.pk", help_text="Id of the membership.")
    annotator = serializers.CharField(source="name")
    reason = serializers.CharField(help_text="Why they were qualified manually, or empty.")
    pages = QualificationPage(many=True)


class KnownPage(serializers.Serializer[Any]):
    """A qualification page as leads see it: its name, the source of its gold, its facts."""

    source = serializers.CharField(source="known_gold.source")  # type: ignore[assignment]
    facts = serializers.IntegerField(source="known_gold.facts")
    document = serializers.CharField(source="document.name")


GoldSource = answer(
    selectors.SourceRow,
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
        help_text="Number of documents to draw, instead of `names`.",
    )  # fmt: skip
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MAX_SEED)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if bool(attrs["names"]) == bool(attrs["count"]):
            raise serializers.ValidationError("Send either `names` or `count`.")
        return attrs


class AddedQualification(serializers.Serializer[Any]):
    documents = serializers.ListField(child=serializers.CharField())


class GrantedTry(serializers.Serializer[Any]):
    pages = serializers.IntegerField(help_text="Number of reopened documents.")


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
QualityPart = answer(quality.Part, "QualityPart")
AnnotatorQualityRow = answer(
    quality.AnnotatorQuality,
    "AnnotatorQualityRow",
    leave_out=["user", "name", "line"],
    annotator=serializers.CharField(source="name"),
    submitted="Submitted documents.",
    gold_pages="Gold documents that count.",
    minutes="Median of active minutes over fully submitted documents.",
    timed="Documents with a measured time.",
)
QualityAnswer = answer(
    quality.CampaignQuality,
    "AnnotatorQuality",
    leave_out=["lowest"],
    pages="Gold documents with two or more annotators.",
    single="Gold documents with one annotator, which are excluded.",
)


class QualityQuery(serializers.Serializer[Any]):
    every = serializers.ChoiceField(
        choices=list(quality.PERIODS),
        default=quality.WEEK,
        help_text="The period: a week, or a number of gold documents.",
    )


class CampaignQualificationView(AnnotationView):
    @reads(
        "Get the qualification round of a campaign (annotators, leads, organisers)",
        on=qualified_campaign,
        gives=CampaignQualification,
        description="Annotators get their own results, with right and wrong facts of submitted "
        "documents. Leads and organisers get the results of all annotators.",
    )
    def get(self, access: CampaignAccess) -> Any:
        user = user_of(self.request)
        own = {"threshold": access.campaign.qualification_f1, "own": _own(access, user)}
        return Response(own | _managed(access, user))

    @writes(
        "Add documents with known gold to the round (leads, organisers)",
        on=managed_campaign,
        takes=NewQualification,
        gives=AddedQualification,
        code=201,
        description="Assigns the documents to every annotator who is not qualified. They must pass "
        "before the campaign's own documents open.",
    )
    def post(self, access: CampaignAccess, user: User, **wanted: Any) -> Any:
        source = selectors.find_source(user, access.campaign, wanted.pop("source"))
        if source is None:
            raise ValidationError({"source": ["Choose one of `sources`."]})
        names = add_qualification(campaign=access.campaign, source=source, actor=user, **wanted)
        return {"documents": names}


def _own(access: CampaignAccess, user: User) -> dict[str, Any] | None:
    own = selectors.own_round(access, user.pk)
    if own is None:
        return None
    body: dict[str, Any] = dict(QualificationRound(own).data)
    found = {item.page.name: item for item in quality.page_findings(access.campaign, own)}
    body["pages"] = [
        {
            **QualificationPage(page).data,
            "findings": QualificationFinding(_findings(found.get(page.name)), many=True).data,
        }
        for page in own.pages
    ]
    return body


def _findings(page: quality.PageFindings | None) -> tuple[quality.Finding, ...]:
    return (*page.errors, *page.right) if page else ()


def _managed(access: CampaignAccess, user: User) -> dict[str, Any]:
    if not access.may_manage:
        return {"annotators": [], "pages": [], "sources": []}
    pages = selectors.known_pages(access.campaign)
    annotators = selectors.annotator_rounds(access.campaign, pages)
    sources = selectors.source_rows(user, access.campaign)
    return {
        "annotators": AnnotatorQualification(annotators, many=True).data,
        "pages": KnownPage(pages, many=True).data,
        "sources": GoldSource(sources, many=True).data,
    }


class QualificationTryView(AnnotationView):
    @writes(
        "Allow an annotator another attempt (leads, organisers)",
        on=annotator_member,
        gives=GrantedTry,
        description="`id` is the id of the membership. Reopens every document with an error.",
    )
    def post(self, campaign: Campaign, annotator: User, user: User) -> Any:
        return {"pages": grant_qualification_try(campaign=campaign, user=annotator, actor=user)}


class QualificationDecision(AnnotationView):
    @writes(
        "Qualify an annotator manually (leads, organisers)",
        on=annotator_member,
        takes=QualifyingDecision,
        gives=Qualified,
        description="`id` is the id of the membership. The reason is stored with the decision.",
    )
    def post(self, campaign: Campaign, annotator: User, user: User, reason: str) -> Any:
        return qualify_by_decision(campaign=campaign, user=annotator, reason=reason, actor=user)


class CampaignAnnotatorQuality(AnnotationView):
    @reads(
        "Get the quality of annotators over time (leads)",
        on=led_campaign,
        asks=QualityQuery,
        gives=QualityAnswer,
        description="Compares first submissions with gold, on gold documents with two or more "
        "annotators.",
    )
    def get(self, access: CampaignAccess, every: str) -> Any:
        return quality.campaign_quality(access.campaign, every)
