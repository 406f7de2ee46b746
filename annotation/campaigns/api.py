"""API of campaigns, their settings, guidelines and releases."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from annotation.access import CampaignAccess, campaign_for, managed_campaign
from annotation.api_base import INVALID, AnnotationView, reads, user_of, writes
from annotation.assignments.sharing import MAX_OVERLAP, Shared, assign_documents
from annotation.doubts import DoubtfulFact
from annotation.models import Assignment, Campaign, GuidelinesVersion
from portal.accounts.access import is_organiser
from portal.accounts.models import User, display_name
from portal.datasets.curation.draws import FILING, SplitDraw
from portal.datasets.models import Dataset, Release, Selection
from portal.datasets.releases.api import OVERLAPS_HELP, CitationSerializer
from portal.datasets.releases.forms import GROUPS, LARGEST_SEED
from portal.datasets.releases.services import freeze_remarks
from portal.web.answers import answer
from portal.web.api import NamedField

from . import selectors, services


class WorkflowSettings(serializers.Serializer[Any]):
    """Workflow settings. In a change, omitted settings keep their value."""

    screening = serializers.BooleanField(
        required=False, help_text="Whether documents are screened before annotation."
    )
    agreement_threshold = serializers.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        help_text="Share of annotators who must mark a fact alike; otherwise it goes to "
        "adjudication.",
    )
    review_pages = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=services.MAX_REVIEW_PAGES,
        help_text="Gold documents between two reviews; 0 for no review.",
    )
    review_share = serializers.FloatField(
        required=False,
        max_value=1,
        help_text="Share of the facts that a review draws, above 0 and up to 1.",
    )
    qualification_f1 = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text="Span F1 needed to qualify."
    )

    def validate_review_share(self, share: float) -> float:
        if not share > 0:
            raise serializers.ValidationError("The share must be above 0.")
        return share


class WorkflowSettingsChange(WorkflowSettings):
    overlap = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_OVERLAP,
        help_text="Annotators per document; can be changed in a draft only.",
    )


class WorkflowSettingsState(WorkflowSettingsChange):
    fixed = serializers.DictField(
        child=serializers.CharField(),
        read_only=True,
        help_text="Settings that can no longer be changed, with reasons.",
    )


CampaignStages = answer(
    selectors.Stages,
    "CampaignStages",
    total=serializers.IntegerField(help_text="All but excluded documents."),
)


class _CampaignHead(serializers.Serializer[Any]):
    slug = serializers.CharField(source="campaign.slug")
    title = serializers.CharField(source="campaign.title")
    dataset = serializers.CharField(source="campaign.dataset.slug")
    state = serializers.ChoiceField(source="campaign.state", choices=Campaign.State.choices)
    roles = serializers.ListField(child=serializers.CharField())


class CampaignRow(_CampaignHead):
    is_sample = serializers.BooleanField(source="campaign.is_sample")
    stages = CampaignStages()


AnnotatorProgressShape = answer(selectors.AnnotatorProgress, leave_out=["user"])


class FlaggedWork(serializers.Serializer[Any]):
    document = serializers.CharField(source="campaign_document.document.name")
    annotator = serializers.CharField()
    flag = serializers.CharField()
    reason = serializers.CharField(source="flag_reason")
    state = serializers.ChoiceField(choices=Assignment.State.choices)


class CampaignDetail(_CampaignHead):
    labels = serializers.ListField(source="campaign.labels", child=serializers.CharField())
    overlap = serializers.IntegerField(source="campaign.overlap")
    guidelines = serializers.CharField(source="campaign.guidelines")
    stages = CampaignStages(source="overview.stages")
    annotators = AnnotatorProgressShape(many=True, source="overview.annotators")
    open_cases = serializers.IntegerField(source="overview.open_cases")
    new_documents = serializers.IntegerField(source="overview.new_documents")
    unassigned = serializers.IntegerField(
        source="overview.unassigned", help_text="Documents in annotation without annotators."
    )
    calibration = serializers.IntegerField(
        source="overview.calibration", help_text="Documents that every annotator labels."
    )
    review_items = serializers.IntegerField(
        source="overview.review_items", help_text="Facts without a reviewer's verdict."
    )
    settings = WorkflowSettings()
    flagged = FlaggedWork(many=True, help_text="Empty except for leads and organisers.")


class NewCampaign(WorkflowSettings):
    dataset = NamedField(slug_field="slug", queryset=Dataset.objects.all())
    selection = serializers.PrimaryKeyRelatedField(
        queryset=Selection.objects.all(),
        required=False,
        allow_null=True,
        help_text="The id of a selection of the dataset, to use only its documents.",
    )
    title = serializers.CharField(max_length=160)
    labels = serializers.ListField(child=serializers.CharField(max_length=64))
    overlap = serializers.IntegerField(min_value=1, max_value=MAX_OVERLAP)
    guidelines = serializers.CharField(
        required=False,
        max_length=services.MAX_GUIDELINES,
        help_text="Defaults to the built-in guidelines.",
    )

    def validate_labels(self, labels: list[str]) -> list[str]:
        if problems := services.label_problems(labels):
            raise serializers.ValidationError(problems)
        return labels


class GuidelinesEdit(serializers.Serializer[Any]):
    guidelines = serializers.CharField(max_length=services.MAX_GUIDELINES, allow_blank=True)
    note = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=services.MAX_NOTE,
        default="",
        help_text="The changes and their reason.",
    )


class GuidelinesVersionRow(serializers.ModelSerializer[GuidelinesVersion]):
    author = serializers.SerializerMethodField()

    class Meta:
        model = GuidelinesVersion
        fields = ["number", "note", "author", "created_at"]

    def get_author(self, version: GuidelinesVersion) -> str:
        return display_name(version.author) if version.author else ""


class CampaignGuidelines(serializers.Serializer[Any]):
    guidelines = serializers.CharField(help_text="The text of the requested version, Markdown.")
    version = serializers.IntegerField()
    seen_version = serializers.IntegerField(
        help_text="The newest version that the caller opened; 0 for none."
    )
    versions = GuidelinesVersionRow(many=True, help_text="Newest first.")


class GuidelinesVersionQuery(serializers.Serializer[Any]):
    version = serializers.IntegerField(
        required=False, min_value=1, help_text="Defaults to the newest."
    )


class GuidelinesOpened(serializers.Serializer[Any]):
    version = serializers.IntegerField(min_value=1, help_text="The version that was opened.")


class GuidelinesSeenVersion(serializers.Serializer[Any]):
    seen_version = serializers.IntegerField()


DocumentsShared = answer(
    Shared,
    "DocumentsShared",
    documents="Number of assigned documents.",
    added="Number of documents that are new in the campaign, assigned or not.",
    waiting="Why other documents are not assigned, one sentence per cause.",
)


LeftOutDocument = answer(selectors.LeftOut, "LeftOutDocument")
DoubtfulFactShape = answer(DoubtfulFact, "DoubtfulFactShape")
CampaignReleaseState = answer(
    selectors.ReleaseState,
    "CampaignReleaseState",
    leave_out=["releases"],
    left_out="Documents excluded by screening.",
    review="Why the review blocks a release, or null.",
    hidden="Why only organisers will see a release, whatever its visibility; empty otherwise.",
    doubtful="Facts with a warning. Those on which no one decided (`is_signed` is false) block a "
    "release.",
)


class NewCampaignRelease(serializers.Serializer[Any]):
    version = serializers.CharField(max_length=32)
    notes = serializers.CharField(required=False, allow_blank=True, max_length=20_000, default="")
    visibility = serializers.ChoiceField(
        choices=Release.Visibility.choices, default=Release.Visibility.GOLD_HIDDEN
    )
    licence = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=160,
        default="",
        help_text="Users must accept it before they download gold.",
    )
    citation = CitationSerializer(required=False)
    test_share = serializers.FloatField(
        required=False,
        min_value=0.01,
        max_value=0.99,
        help_text="Share of the test part of a drawn split; omit it for no split.",
    )
    seed = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST_SEED,
        default=1,
        help_text="Seed of the draw.",
    )
    group_by = serializers.ChoiceField(
        choices=GROUPS,
        required=False,
        default=FILING,
        help_text="Documents that the draw keeps in one part.",
    )
    leave_out_unfinished = serializers.BooleanField(
        default=False, help_text="Exclude unfinished documents (organisers only)."
    )
    accept_overlaps = serializers.IntegerField(
        required=False, min_value=0, default=0, help_text=OVERLAPS_HELP
    )


class FrozenCampaignRelease(serializers.Serializer[Any]):
    dataset = serializers.CharField(source="dataset.slug")
    version = serializers.CharField()
    sha256 = serializers.CharField()
    item_count = serializers.IntegerField()
    fact_count = serializers.IntegerField()
    remarks = serializers.SerializerMethodField(help_text="Results of the draw.")
    warnings = serializers.SerializerMethodField(help_text="Possible problems of the release.")

    def get_remarks(self, release: Release) -> list[str]:
        return freeze_remarks(release)

    def get_warnings(self, release: Release) -> list[str]:
        return selectors.release_warnings(release)


def _detail(access: CampaignAccess) -> dict[str, Any]:
    campaign = access.campaign
    return {
        "campaign": campaign,
        "roles": sorted(access.roles),
        "overview": selectors.campaign_overview(campaign),
        "settings": services.settings_of(campaign),
        "flagged": selectors.flagged_work(campaign) if access.may_manage else [],
    }


def _organiser(user: Any) -> User:
    if not is_organiser(user):
        raise PermissionDenied("Only organisers can create campaigns.")
    return user


class CampaignList(AnnotationView):
    @reads("List my campaigns", on=selectors.campaign_rows, gives=CampaignRow(many=True))
    def get(self, rows: list[selectors.CampaignRow]) -> Any:
        return rows

    @writes(
        "Create a campaign (organisers)",
        on=_organiser,
        takes=NewCampaign,
        gives=CampaignDetail,
        code=201,
    )
    def post(self, organiser: User, _: User, **wanted: Any) -> Any:
        wanted = {"guidelines": services.default_guidelines()} | wanted
        chosen = {name: wanted.pop(name) for name in services.NAMES if name in wanted}
        campaign = services.create_campaign(
            **wanted, settings=services.CampaignSettings(**chosen), actor=organiser
        )
        return _detail(campaign_for(organiser, campaign.slug))


class CampaignDetailView(AnnotationView):
    @reads(
        "Get a campaign with its progress and guidelines",
        on=campaign_for,
        gives=CampaignDetail,
        operation_id="campaigns_retrieve_one",
    )
    def get(self, access: CampaignAccess) -> Any:
        return _detail(access)


def _state_change(
    service: Callable[..., Campaign], summary: str, description: str | None = None
) -> type[AnnotationView]:
    """An endpoint that calls the service on the campaign, for its leads and organisers."""

    class StateChange(AnnotationView):
        @writes(summary, on=managed_campaign, gives=CampaignDetail, description=description)
        def post(self, access: CampaignAccess, user: User) -> Any:
            service(campaign=access.campaign, actor=user)
            return _detail(access)

    return StateChange


CampaignOpen = _state_change(
    services.open_campaign,
    "Open a campaign (leads, organisers)",
    "Assigns every document of the dataset to annotators.",
)
CampaignClose = _state_change(services.close_campaign, "Close a campaign (leads, organisers)")
CampaignReopen = _state_change(
    services.reopen_campaign, "Reopen a closed campaign (leads, organisers)"
)


class CampaignAssign(AnnotationView):
    @writes(
        "Assign documents that were added to the dataset later (leads, organisers)",
        on=managed_campaign,
        gives=DocumentsShared,
    )
    def post(self, access: CampaignAccess, user: User) -> Any:
        return assign_documents(campaign=access.campaign, actor=user)


class CampaignSettingsView(AnnotationView):
    @reads(
        "Get the workflow settings of a campaign (leads, organisers)",
        on=managed_campaign,
        gives=WorkflowSettingsState,
    )
    def get(self, access: CampaignAccess) -> Any:
        return _settings(access.campaign)

    @writes(
        "Change the workflow settings (leads, organisers)",
        on=managed_campaign,
        takes=WorkflowSettingsChange,
        gives=WorkflowSettingsState,
    )
    def patch(self, access: CampaignAccess, user: User, **changes: Any) -> Any:
        return _settings(services.change_settings(campaign=access.campaign, actor=user, **changes))


def _settings(campaign: Campaign) -> dict[str, Any]:
    return asdict(services.settings_of(campaign)) | {
        "overlap": campaign.overlap,
        "fixed": services.fixed_settings(campaign),
    }


class CampaignGuidelinesView(AnnotationView):
    @reads(
        "Get the guidelines of a campaign",
        on=campaign_for,
        asks=GuidelinesVersionQuery,
        gives=CampaignGuidelines,
        description="Returns the newest version, or the requested one.",
    )
    def get(self, access: CampaignAccess, version: int | None = None) -> Any:
        campaign = access.campaign
        number = campaign.guidelines_version if version is None else version
        return _guidelines(self.request, campaign, number)

    @writes(
        "Save a new version of the guidelines (leads, organisers)",
        on=managed_campaign,
        takes=GuidelinesEdit,
        gives=CampaignGuidelines,
        refuses={},
    )
    def put(self, access: CampaignAccess, user: User, guidelines: str, note: str) -> Any:
        campaign = services.edit_guidelines(
            campaign=access.campaign, text=guidelines, note=note, actor=user
        )
        return _guidelines(self.request, campaign, campaign.guidelines_version)


def _guidelines(request: Request, campaign: Campaign, number: int) -> dict[str, Any]:
    version = selectors.guidelines_version(campaign, number)
    return {
        "guidelines": version.text,
        "version": version.number,
        "seen_version": selectors.seen_guidelines(campaign, user_of(request).pk),
        "versions": selectors.guidelines_versions(campaign),
    }


class CampaignGuidelinesSeen(AnnotationView):
    @writes(
        "Mark a version of the guidelines as read by me",
        on=campaign_for,
        takes=GuidelinesOpened,
        gives=GuidelinesSeenVersion,
        refuses={},
        description="The number never decreases and never exceeds the newest version.",
    )
    def post(self, access: CampaignAccess, user: User, version: int) -> Any:
        campaign = access.campaign
        seen = services.mark_guidelines_seen(campaign=campaign, version=version, user=user)
        return {"seen_version": seen}


class CampaignRelease(AnnotationView):
    @reads(
        "Get the documents ready for release (leads, organisers)",
        on=managed_campaign,
        gives=CampaignReleaseState,
    )
    def get(self, access: CampaignAccess) -> Any:
        return selectors.release_state(access.campaign)

    @writes(
        "Freeze a release (leads, organisers)",
        on=managed_campaign,
        takes=NewCampaignRelease,
        gives=FrozenCampaignRelease,
        code=201,
        refuses=INVALID,
    )
    def post(self, access: CampaignAccess, user: User, **wanted: Any) -> Any:
        if wanted["leave_out_unfinished"] and not access.is_organiser:
            raise PermissionDenied("Only organisers can exclude unfinished documents.")
        share, seed = wanted.pop("test_share", None), wanted.pop("seed")
        group_by = wanted.pop("group_by")
        draw = None if share is None else SplitDraw(share, seed, group_by)
        return services.release_gold(campaign=access.campaign, actor=user, draw=draw, **wanted)
