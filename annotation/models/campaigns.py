"""Campaigns: their settings, members, documents, guidelines, invitations, reminders and uploads."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from portal.accounts.models import Invitation
from portal.datasets.models import Dataset, Document, Selection

# Defaults of a new campaign: an entity with less agreement than the threshold becomes a case; a
# review follows every REVIEW_PAGES pages of gold, with that share of their facts; annotators
# qualify with that F1.
AGREEMENT_THRESHOLD = 1.0
REVIEW_PAGES = 100
REVIEW_SHARE = 0.05
QUALIFICATION_F1 = 0.9


def default_labels() -> list[str]:
    """The labels of the first version of FinCriticalED."""
    return ["Number", "Date"]


class SuggestionSource(models.TextChoices):
    """Sources of suggestions, in order of precedence."""

    XBRL = "xbrl", "inline XBRL facts of the filing"
    MODEL = "model", "uploaded model output"
    RULES = "rules", "numbers and dates detected by rules"


class Campaign(models.Model):
    class State(models.TextChoices):
        DRAFT = "draft"
        OPEN = "open"
        CLOSED = "closed"

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=160)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="campaigns")
    selection = models.ForeignKey(
        Selection,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="campaigns",
        help_text="Limits the campaign to these documents; empty for the whole dataset.",
    )
    labels = models.JSONField(
        default=default_labels, help_text="Label names, in the order of the keys 1 to 9."
    )
    overlap = models.PositiveSmallIntegerField(
        default=2, help_text="Annotators per document, 1 to 4."
    )
    # The text and number of the newest GuidelinesVersion, to save a query per page.
    guidelines = models.TextField(blank=True, help_text="Markdown.")
    guidelines_version = models.PositiveIntegerField(default=1)
    suggestion_sources = models.JSONField(
        default=list,
        blank=True,
        help_text="Sources of the suggestions that annotators see; none by default.",
    )
    screening = models.BooleanField(
        default=False, help_text="Whether documents are screened before annotation."
    )
    agreement_threshold = models.FloatField(
        default=AGREEMENT_THRESHOLD,
        help_text="Entities with a lower agreement score, 0 to 1, go to adjudication.",
    )
    review_pages = models.PositiveIntegerField(
        default=REVIEW_PAGES,
        help_text="Gold documents between two domain reviews; 0 for no review.",
    )
    review_share = models.FloatField(
        default=REVIEW_SHARE,
        help_text="Share of the facts that a review draws, above 0 and up to 1.",
    )
    qualification_f1 = models.FloatField(
        default=QUALIFICATION_F1,
        help_text="Span F1 against known gold needed to qualify, 0 to 1.",
    )
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    is_sample = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["title"]
        constraints = [
            models.CheckConstraint(
                condition=Q(overlap__gte=1) & Q(overlap__lte=4), name="campaign_overlap_1_to_4"
            ),
            models.CheckConstraint(
                condition=Q(agreement_threshold__gte=0, agreement_threshold__lte=1),
                name="campaign_threshold_0_to_1",
            ),
            models.CheckConstraint(
                condition=Q(review_share__gt=0, review_share__lte=1),
                name="campaign_review_share_0_to_1",
            ),
            models.CheckConstraint(
                condition=Q(qualification_f1__gte=0, qualification_f1__lte=1),
                name="campaign_qualification_0_to_1",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("annotation:campaign", args=[self.slug])

    def candidates(self) -> models.QuerySet[Document]:
        """The documents of its dataset or selection that are not held back."""
        documents = Document.objects.to_label().filter(dataset=self.dataset_id)
        if self.selection_id:
            documents = documents.filter(selections=self.selection_id)
        return documents


class Membership(models.Model):
    """A role of a user in a campaign. A user may have several."""

    class Role(models.TextChoices):
        ANNOTATOR = "annotator"
        LEAD = "lead"
        REVIEWER = "reviewer"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role)
    seen_guidelines = models.PositiveIntegerField(
        default=0, help_text="Number of the newest version this user has opened; 0 for none."
    )
    qualified_at = models.DateTimeField(
        null=True, help_text="When the annotator passed the qualification round."
    )

    class Meta:
        ordering = ["campaign", "role", "id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user", "role"], name="membership_once")
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.campaign}"


class CampaignDocumentQuerySet(models.QuerySet["CampaignDocument"]):
    def in_work(self) -> "CampaignDocumentQuerySet":
        """Documents that are to become gold: neither qualification pages nor excluded."""
        return self.exclude(purpose=CampaignDocument.Purpose.QUALIFICATION).exclude(
            stage=CampaignDocument.Stage.EXCLUDED
        )

    def settled(self) -> "CampaignDocumentQuerySet":
        """Documents submitted by all annotators. Only their labels may be shown to others."""
        return self.in_work().filter(stage__in=CampaignDocument.SETTLED)

    def locked(self, *related: str) -> "CampaignDocumentQuerySet":
        """The rows are locked; their campaign, document and other `related` rows are not."""
        rows = self.select_for_update(of=("self",))
        return rows.select_related("campaign", "document", *related)


class CampaignDocument(models.Model):
    """A document in a campaign, with its stage."""

    class Stage(models.TextChoices):
        """Stages in the order of the workflow. A document may skip any of them."""

        SCREENING = "screening", "screening"
        ANNOTATION = "annotation", "annotation"
        VALIDATION = "validation", "validation"
        ADJUDICATION = "adjudication", "adjudication"
        GOLD = "gold", "gold"
        EXCLUDED = "excluded", "excluded"

    class Purpose(models.TextChoices):
        WORK = "work", "work"
        CALIBRATION = "calibration", "calibration: labelled by every annotator"
        QUALIFICATION = "qualification", "qualification: compared with known gold"

    SETTLED = (Stage.VALIDATION, Stage.ADJUDICATION, Stage.GOLD)

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="documents")
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")
    stage = models.CharField(max_length=14, choices=Stage, default=Stage.ANNOTATION)
    purpose = models.CharField(max_length=14, choices=Purpose, default=Purpose.WORK)
    overlap = models.PositiveSmallIntegerField(
        null=True, help_text="Annotators of this document; empty to use the campaign's number."
    )
    faults = models.JSONField(
        default=list,
        help_text="Faults found by validation: [{assignment, key, code, message}, …].",
    )
    settled_at = models.DateTimeField(null=True, help_text="When the last annotator submitted.")
    gold_at = models.DateTimeField(null=True)
    review_round = models.ForeignKey(
        "annotation.ReviewRound",
        null=True,
        on_delete=models.SET_NULL,
        related_name="documents",
        help_text="The domain review that drew from this gold document.",
    )

    objects = CampaignDocumentQuerySet.as_manager()

    class Meta:
        ordering = ["campaign", "id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "document"], name="campaign_document_once"),
            models.CheckConstraint(
                condition=Q(overlap__isnull=True) | Q(overlap__gte=1),
                name="campaign_document_overlap_from_1",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "stage"], name="campaign_document_stage")]

    def __str__(self) -> str:
        return f"{self.document} in {self.campaign}"

    @property
    def is_calibration(self) -> bool:
        return self.purpose == self.Purpose.CALIBRATION

    @property
    def is_in_work(self) -> bool:
        """As `CampaignDocumentQuerySet.in_work`."""
        return self.purpose != self.Purpose.QUALIFICATION and self.stage != self.Stage.EXCLUDED

    def is_labelled_by(self, user: Any) -> bool:
        """Whether labels of the user count here. Users may not decide about their own labels."""
        return self.assignments.filter(annotator=user).exclude(state="withdrawn").exists()


class GuidelinesVersion(models.Model):
    """A version of the guidelines. Append-only, numbered from 1."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="guidelines_versions"
    )
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True, help_text="Markdown.")
    note = models.CharField(max_length=300, blank=True, help_text="The changes and their reason.")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "number"], name="guidelines_version_number_once"
            )
        ]

    def __str__(self) -> str:
        return f"guidelines {self.number} of {self.campaign}"


class CampaignInvitation(models.Model):
    """The role in a campaign that an invitation grants."""

    invitation = models.OneToOneField(
        Invitation, on_delete=models.CASCADE, primary_key=True, related_name="campaign_invitation"
    )
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Membership.Role)

    def __str__(self) -> str:
        return f"{self.role} of {self.campaign}"


class Reminder(models.Model):
    """A reminder sent to a user about open tasks. Append-only; limits how often one is sent."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="reminders")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    waiting = models.PositiveIntegerField(help_text="Open tasks at that time.")
    sent_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    sent_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["campaign", "user"], name="reminder_campaign_user")]

    def __str__(self) -> str:
        return f"reminder to {self.user_id} in {self.campaign}"


class Upload(models.Model):
    """A file that a worker reads, with its result."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    source_name = models.CharField(max_length=300, help_text="The file's name.")
    upload: Any  # a FileField of each kind, with a folder of its own
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    documents = models.PositiveIntegerField(default=0, help_text="Documents with placed labels.")
    fault_count = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True, help_text="Why the whole file failed.")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ["-id"]

    @property
    def is_finished(self) -> bool:
        return self.state in {self.State.DONE, self.State.FAILED}


class CampaignImport(Upload):
    """An import of labels into a campaign."""

    class Form(models.TextChoices):
        LABEL_STUDIO = "labelstudio", "Label Studio JSON"
        TAGS = "tags", "HTML with inline tags (ZIP)"
        JSONL = "jsonl", "JSON Lines with offsets"
        FULL = "full", "whole campaign (ZIP)"

    class Layer(models.TextChoices):
        ANNOTATIONS = "annotations", "an annotator's labels"
        GOLD = "gold", "gold"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="imports")
    upload = models.FileField(upload_to="campaign-imports/%Y/%m/", max_length=200, blank=True)
    form = models.CharField(max_length=12, choices=Form)
    layer = models.CharField(max_length=12, choices=Layer, blank=True)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The annotator whose work the labels become.",
    )
    spans = models.PositiveIntegerField(default=0, help_text="Spans in those documents.")
    moved = models.PositiveIntegerField(
        default=0, help_text="Spans placed at other offsets than the file says."
    )
    rejected = models.PositiveIntegerField(
        default=0, help_text="Documents in the file that were not imported."
    )
    faults = models.JSONField(
        default=list, help_text="One sentence per problem, at most a thousand."
    )

    def __str__(self) -> str:
        return f"import {self.pk} from {self.source_name}"


class SuggestionUpload(Upload):
    """An uploaded file with a model's labels, shown as suggestions."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="suggestion_uploads"
    )
    upload = models.FileField(upload_to="suggestions/%Y/%m/", max_length=200, blank=True)
    model = models.CharField(
        max_length=200, blank=True, help_text="The model that made the suggestions."
    )
    prompt = models.CharField(max_length=200, blank=True, help_text="The version of its prompt.")
    spans = models.PositiveIntegerField(default=0, help_text="Suggestions in those documents.")
    faults = models.JSONField(
        default=list, help_text="One sentence per document not placed, at most a thousand."
    )

    def __str__(self) -> str:
        return f"suggestions {self.pk} from {self.source_name}"


class ModelSuggestions(models.Model):
    """A model's suggestions for one document, read and replaced as a whole."""

    campaign_document = models.OneToOneField(
        CampaignDocument,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="model_suggestions",
    )
    upload = models.ForeignKey(SuggestionUpload, on_delete=models.CASCADE, related_name="+")
    spans = models.JSONField(help_text="[[start, end, label], …] in text order, code points.")

    def __str__(self) -> str:
        return f"suggestions for {self.campaign_document_id}"


class OfferedSuggestions(models.Model):
    """The suggestions of a document as its first annotator saw them. All others see the same."""

    campaign_document = models.OneToOneField(
        CampaignDocument,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="offered_suggestions",
    )
    upload = models.ForeignKey(
        SuggestionUpload,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Where suggestions of the source `model` are from.",
    )
    suggestions = models.JSONField(
        help_text="[[start, end, label, source, details], …] in text order, code points."
    )
    offered_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"suggestions offered for {self.campaign_document_id}"
