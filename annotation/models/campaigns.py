"""Campaigns: who labels which documents with what, by which guidelines, and who is to join them."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from portal.accounts.models import Invitation
from portal.datasets.models import Dataset, Document, Selection

# Of a new campaign: the agreement below which an entity is a case, how many pages of gold are
# followed by a review, the share of their facts that is drawn, the F1 that qualifies.
AGREEMENT_THRESHOLD = 1.0
REVIEW_PAGES = 100
REVIEW_SHARE = 0.05
QUALIFICATION_F1 = 0.9


def default_labels() -> list[str]:
    """The label set of FinCriticalED's first version."""
    return ["Number", "Date"]


class SuggestionSource(models.TextChoices):
    """Where suggestions come from. Their order here is that in which they win over each other."""

    XBRL = "xbrl", "facts of the filing's inline XBRL"
    MODEL = "model", "uploaded output of a model"
    RULES = "rules", "numbers and dates found by rules"


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
        help_text="Its documents alone are taken in; empty: all of the dataset.",
    )
    labels = models.JSONField(
        default=default_labels, help_text="Label names; their order gives the keys 1 to 9."
    )
    overlap = models.PositiveSmallIntegerField(
        default=2, help_text="Annotators per document, 1 to 4."
    )
    # The text and number of the newest GuidelinesVersion, so that no page needs a further query.
    guidelines = models.TextField(blank=True, help_text="Markdown.")
    guidelines_version = models.PositiveIntegerField(default=1)
    suggestion_sources = models.JSONField(
        default=list,
        blank=True,
        help_text="What annotators are shown as suggestions; none unless chosen.",
    )
    screening = models.BooleanField(
        default=False, help_text="Whether documents are screened before annotators get them."
    )
    agreement_threshold = models.FloatField(
        default=AGREEMENT_THRESHOLD,
        help_text="Entities whose agreement score, 0 to 1, is below it go to adjudication.",
    )
    review_pages = models.PositiveIntegerField(
        default=REVIEW_PAGES,
        help_text="A domain review follows every so many gold pages; 0 for none.",
    )
    review_share = models.FloatField(
        default=REVIEW_SHARE,
        help_text="Share of the facts of those pages that is drawn, above 0 to 1.",
    )
    qualification_f1 = models.FloatField(
        default=QUALIFICATION_F1,
        help_text="Span F1 against known gold that an annotator has to reach, 0 to 1.",
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
        """What it takes in: the documents of its dataset, or of its selection, not held back."""
        documents = Document.objects.to_label().filter(dataset=self.dataset_id)
        if self.selection_id:
            documents = documents.filter(selections=self.selection_id)
        return documents


class Membership(models.Model):
    """A role held in one campaign; a person may hold several."""

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
        default=0, help_text="Number of the newest version this person has opened; 0 for none."
    )
    qualified_at = models.DateTimeField(
        null=True, help_text="When an annotator passed the qualification round, if there is one."
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
        """What becomes gold of the campaign: neither qualification nor excluded."""
        return self.exclude(purpose=CampaignDocument.Purpose.QUALIFICATION).exclude(
            stage=CampaignDocument.Stage.EXCLUDED
        )

    def settled(self) -> "CampaignDocumentQuerySet":
        """Submitted by everybody: the only ones whose labels others may see."""
        return self.in_work().filter(stage__in=CampaignDocument.SETTLED)


class CampaignDocument(models.Model):
    """A document on its way through one campaign."""

    class Stage(models.TextChoices):
        """In the order in which a document goes through them; any may be passed over."""

        SCREENING = "screening", "screening"
        ANNOTATION = "annotation", "annotation"
        VALIDATION = "validation", "validation"
        ADJUDICATION = "adjudication", "adjudication"
        GOLD = "gold", "gold"
        EXCLUDED = "excluded", "excluded"

    class Purpose(models.TextChoices):
        WORK = "work", "work"
        CALIBRATION = "calibration", "calibration, by every annotator"
        QUALIFICATION = "qualification", "qualification, against known gold"

    SETTLED = (Stage.VALIDATION, Stage.ADJUDICATION, Stage.GOLD)

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="documents")
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")
    stage = models.CharField(max_length=14, choices=Stage, default=Stage.ANNOTATION)
    purpose = models.CharField(max_length=14, choices=Purpose, default=Purpose.WORK)
    overlap = models.PositiveSmallIntegerField(
        null=True, help_text="Annotators of this document; empty for the campaign's number."
    )
    faults = models.JSONField(
        default=list,
        help_text="What integrity validation found: [{assignment, key, code, message}, …].",
    )
    settled_at = models.DateTimeField(null=True, help_text="When everybody had submitted.")
    gold_at = models.DateTimeField(null=True)
    review_round = models.ForeignKey(
        "annotation.ReviewRound",
        null=True,
        on_delete=models.SET_NULL,
        related_name="documents",
        help_text="The domain review whose draw this gold page was in.",
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


class GuidelinesVersion(models.Model):
    """The guidelines as they were from one moment on. Append-only, numbered from 1."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="guidelines_versions"
    )
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True, help_text="Markdown.")
    note = models.CharField(max_length=300, blank=True, help_text="What changed, and why.")
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
    """The role in a campaign that comes with an accepted invitation."""

    invitation = models.OneToOneField(
        Invitation, on_delete=models.CASCADE, primary_key=True, related_name="campaign_invitation"
    )
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Membership.Role)

    def __str__(self) -> str:
        return f"{self.role} of {self.campaign}"


class Reminder(models.Model):
    """An e-mail that told somebody what waits for them. Append-only: it limits how often."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="reminders")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    waiting = models.PositiveIntegerField(help_text="Pieces of work that waited then.")
    sent_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    sent_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["campaign", "user"], name="reminder_campaign_user")]

    def __str__(self) -> str:
        return f"reminder to {self.user_id} in {self.campaign}"
