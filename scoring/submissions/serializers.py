"""JSON forms of submissions and their gradings."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from portal.accounts.models import display_name
from portal.jobs.selectors import QueuePosition, StageLine
from portal.web.answers import answer
from scoring.answering.manifest import RunManifest
from scoring.models import Approval, Grading, Submission
from scoring.models.submissions import CARD_FIELDS

from .manifests import ManifestRefused, Run, filled_card, read_manifest
from .selectors import SubmissionLine, SubmissionPage
from .uploads import CheckedUpload

StageSerializer = answer(StageLine, "Stage")


QueueSerializer = answer(
    QueuePosition,
    "Queue",
    jobs_before="Other jobs before its next one; null if none is due.",
    running="Its running jobs.",
    workers="Active worker processes.",
    expected_wait=serializers.DurationField(allow_null=True),
    rate="Items per second.",
    time_left=serializers.DurationField(allow_null=True),
)


class GradingSerializer(serializers.ModelSerializer[Grading]):
    """A grading. Scores are unrounded rates in [0, 1]; null if nothing was scored."""

    release = serializers.CharField(source="release.version")
    items_done = serializers.SerializerMethodField()
    scores = serializers.DictField(
        child=serializers.FloatField(allow_null=True),
        help_text="Rates in [0, 1] by column. On hidden gold, they are rounded at random to steps, "
        "and withheld ones are missing.",
    )
    counts = serializers.DictField(child=serializers.IntegerField())
    subsets = serializers.DictField(
        child=serializers.DictField(child=serializers.FloatField(allow_null=True))
    )

    parts = serializers.SerializerMethodField()
    views = serializers.SerializerMethodField()
    queue = serializers.SerializerMethodField()
    stages = serializers.SerializerMethodField()

    class Meta:
        model = Grading
        fields = (
            "id state release signature items_total items_done missing scores counts parts "
            "views subsets error queue stages created_at finished_at"
        ).split()

    @extend_schema_field(QueueSerializer(allow_null=True))
    def get_queue(self, _: Grading) -> Any:
        """The place in the queue while it is graded. For keepers."""
        progress = self.context.get("progress")
        return None if progress is None else QueueSerializer(progress.position).data

    @extend_schema_field(StageSerializer(many=True, allow_null=True))
    def get_stages(self, _: Grading) -> Any:
        """The log of its steps. For keepers."""
        stages = self.context.get("stages")
        return None if stages is None else StageSerializer(stages.lines, many=True).data

    def get_parts(self, grading: Grading) -> dict[str, dict[str, float | None]] | None:
        """For a phase in parts: the scores of `public` and `private`. For organisers; other users
        get those of one part as `scores`."""
        return grading.parts or None if self.context.get("shows_parts") else None

    def get_views(self, _: Grading) -> dict[str, dict[str, float | None]]:
        """Views with the scores of their columns."""
        views = self.context["views"]
        return {view.key: {each.key: each.value for each in view.figures} for view in views}

    def get_items_done(self, grading: Grading) -> int:
        progress = self.context.get("progress")
        if progress is not None:
            return int(progress.done)
        is_done = grading.state == Grading.State.DONE
        return grading.items_total if is_done else grading.item_scores.count()


RunSerializer = answer(
    Run,
    "SubmissionRun",
    release_sha256="Of the release that was run, for keepers.",
    host="Host and port of the endpoint, for keepers; empty for an engine on the machine.",
    cut_off="Answers that were cut off at `max_tokens`.",
    cut_off_ids="The first of these items, for keepers.",
    uncertain="Calls that did not report their tokens and are counted at the most they can have "
    "used.",
    latency_median="Seconds per answered item, without waits and retries.",
    cost="US dollars; at most, if calls are uncertain. Null if no prices were given.",
    command="The command that repeats the run. URLs, hosts and folders are left out for readers "
    "who are not keepers.",
    warnings="Where the run differs from the phase.",
)


def _team_field() -> serializers.SlugField:
    return serializers.SlugField(
        source="team.slug",
        allow_null=True,
        default=None,
        help_text="The slug of its team; null: none.",
    )


class HistorySerializer(serializers.Serializer[Any]):
    """A current or earlier result of the submission. `score` is the main one; null while it is
    not shown."""

    id = serializers.IntegerField(source="grading.pk")
    release = serializers.CharField(source="grading.release.version")
    signature = serializers.CharField(source="grading.signature")
    finished_at = serializers.DateTimeField(source="grading.finished_at")
    regrade = serializers.IntegerField(
        source="grading.regrade_id", allow_null=True, help_text="The re-grade it belongs to."
    )
    score = serializers.FloatField(source="figure.value", allow_null=True, default=None)
    is_current = serializers.BooleanField()


class SubmissionApprovalSerializer(serializers.ModelSerializer[Approval]):
    """Whether organisers approved a submission. It is graded only after they did."""

    class Meta:
        model = Approval
        fields = ["state", "reason", "created_at", "decided_at"]


class ApprovalSerializer(SubmissionApprovalSerializer):
    """The approval of a person on hidden gold: of the first submission, or of the account."""

    phase = serializers.SlugField(source="phase.slug")
    user = serializers.CharField(source="user.get_short_name")
    submission = serializers.IntegerField(
        source="submission_id", allow_null=True, help_text="Null: the account was approved."
    )

    class Meta(SubmissionApprovalSerializer.Meta):
        fields = ["id", "phase", "user", "submission", *SubmissionApprovalSerializer.Meta.fields]


class NewApprovalSerializer(serializers.Serializer[Any]):
    """An account to approve for the hidden gold of a phase."""

    phase = serializers.SlugField(help_text="The phase's slug.")
    email = serializers.EmailField(help_text="The email address of the account.")


class RefusalReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(help_text="Why it is rejected. The submitter sees it.")


class SubmissionSerializer(serializers.ModelSerializer[Submission]):
    """A submission as the user may see it. Owner and filename are for keepers."""

    board = serializers.SlugField(source="phase.board.slug")
    phase = serializers.SlugField(source="phase.slug")
    team = _team_field()
    owner = serializers.SerializerMethodField()
    filename = serializers.SerializerMethodField()
    grading = serializers.SerializerMethodField()
    history = serializers.SerializerMethodField()
    run = serializers.SerializerMethodField()
    approval = serializers.SerializerMethodField()

    class Meta:
        model = Submission
        fields = [
            *"id board phase team owner".split(),
            *CARD_FIELDS,
            *(
                "filename publication version replaces withdrawn_at verdict verdict_reason "
                "is_pinned has_open_items is_sample created_at grading history run approval"
            ).split(),
        ]

    @property
    def page(self) -> SubmissionPage:
        page: SubmissionPage = self.context["page"]
        return page

    def get_owner(self, submission: Submission) -> str | None:
        return display_name(submission.owner) if self.page.is_keeper else None

    def get_filename(self, submission: Submission) -> str | None:
        return submission.filename if self.page.is_keeper else None

    @extend_schema_field(RunSerializer(allow_null=True))
    def get_run(self, _: Submission) -> Any:
        """How it was made, as its run manifest states; null without one."""
        return None if self.page.run is None else RunSerializer(self.page.run).data

    @extend_schema_field(SubmissionApprovalSerializer(allow_null=True))
    def get_approval(self, _: Submission) -> Any:
        """Of a first submission to hidden gold that organisers approve: their decision, for
        keepers. Null for others."""
        approval = self.page.approval
        return None if approval is None else SubmissionApprovalSerializer(approval).data

    @extend_schema_field(HistorySerializer(many=True))
    def get_history(self, _: Submission) -> Any:
        """All results, newest first; empty if there is only one."""
        return HistorySerializer(self.page.history, many=True).data

    @extend_schema_field(GradingSerializer(allow_null=True))
    def get_grading(self, _: Submission) -> Any:
        if self.page.grading is None:
            return None
        context = {
            "progress": self.page.progress,
            "stages": self.page.stages,
            "views": self.page.result.views if self.page.result else [],
            "shows_parts": self.page.is_organiser,
        }
        return GradingSerializer(self.page.grading, context=context).data


class SubmissionLineSerializer(serializers.ModelSerializer[Submission]):
    """A submission in a list, with the state of its latest grading."""

    board = serializers.SlugField(source="phase.board.slug")
    phase = serializers.SlugField(source="phase.slug")
    team = _team_field()
    owner = serializers.CharField(source="owner.get_short_name")
    state = serializers.ChoiceField(choices=Grading.State.choices, allow_null=True)

    class Meta:
        model = Submission
        fields = "id board phase team owner name publication is_sample created_at state".split()

    def to_representation(self, instance: Any) -> dict[str, Any]:
        line: SubmissionLine = instance
        submission: Any = line.submission
        submission.state = line.grading.state if line.grading else None
        return super().to_representation(submission)


class ManifestField(serializers.FileField):
    """A file that is read as a run manifest."""

    def to_internal_value(self, data: Any) -> RunManifest:  # type: ignore[override]
        try:
            return read_manifest(super().to_internal_value(data))
        except ManifestRefused as refusal:
            raise serializers.ValidationError(refusal.faults) from None


class CheckRequestSerializer(serializers.Serializer[Any]):
    """A file to check, for a phase, and optionally its run manifest."""

    phase = serializers.SlugField(
        required=False, default="", help_text="A phase's slug; optional if only one is open."
    )
    file = serializers.FileField(help_text="ZIP, JSON Lines or gzipped JSON Lines.")
    manifest = ManifestField(
        required=False,
        help_text="The run manifest that `factboard run` wrote with the file, as JSON. A "
        "submission's empty model card fields are filled from it.",
    )


class NewSubmissionSerializer(CheckRequestSerializer, serializers.ModelSerializer[Submission]):
    """A model card and a file."""

    name = serializers.CharField(
        required=False,
        default="",
        max_length=Submission._meta.get_field("name").max_length,
        help_text="The name of the model on the leaderboard; by default the model of the manifest.",
    )
    accept_missing = serializers.BooleanField(
        required=False, default=False, help_text="Submit although items have no prediction."
    )
    accept_terms = serializers.BooleanField(
        required=False, default=False, help_text="Accept the terms of the board, if it has any."
    )
    letter = serializers.BooleanField(
        required=False, default=False, help_text="Send an email when it is graded."
    )
    replaces = serializers.IntegerField(
        required=False,
        default=None,
        allow_null=True,
        help_text="The id of the submission that this is a new version of. It must be to this "
        "board and of the same user or team.",
    )
    team = serializers.SlugField(
        required=False,
        default=None,
        allow_null=True,
        help_text="The slug of one of the user's teams; null: no team.",
    )
    key = serializers.CharField(
        required=False,
        default="",
        max_length=40,
        source="form_key",
        help_text="Idempotency key: requests with the same key create one submission.",
    )

    class Meta:
        model = Submission
        fields = [
            *"phase team file manifest accept_missing accept_terms".split(),
            "letter",
            "replaces",
            "key",
            *CARD_FIELDS,
        ]

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Fills the card from the manifest, and checks that the fields that the board requires are
        there."""
        attrs = filled_card(attrs, attrs.get("manifest"))
        lacking = [name for name in self.context["required"] if attrs.get(name) in (None, "")]
        faults = dict.fromkeys(lacking, "This board requires it.")
        if not attrs["name"]:
            faults["name"] = "This field is required, unless a manifest gives the model."
        if faults:
            raise serializers.ValidationError(faults)
        return attrs


class FaultSerializer(serializers.Serializer[Any]):
    file = serializers.CharField()
    line = serializers.IntegerField(help_text="Counted from 1; 0 is the whole file.")
    id = serializers.CharField(allow_null=True)
    message = serializers.CharField()


class RefusalSerializer(serializers.Serializer[Any]):
    """Why nothing was submitted: errors in the file, or missing ids that were not accepted."""

    detail = serializers.CharField(
        source="api_detail",
        help_text="Names accept_missing if the file can be submitted without the missing ids.",
    )
    faults = FaultSerializer(many=True, source="shown_faults")
    fault_count = serializers.IntegerField()
    missing = serializers.ListField(
        child=serializers.CharField(),
        source="shown_missing",
        help_text="The first missing ids; empty if the ids of the phase are not public.",
    )
    missing_count = serializers.IntegerField()


class CheckSerializer(RefusalSerializer):
    """The result of checking a file; `detail` is empty if it can be submitted."""

    detail = serializers.SerializerMethodField()  # type: ignore[assignment]
    predictions = serializers.SerializerMethodField()
    warnings = serializers.SerializerMethodField(
        help_text="About the manifest, and about answers that score nothing, such as empty ones. "
        "They do not prevent the submission."
    )

    def get_warnings(self, checked: CheckedUpload) -> list[str]:
        return [*self.context["warnings"], *checked.notes]

    def get_detail(self, checked: CheckedUpload) -> str:
        is_clean = not checked.fault_count and not checked.missing
        return "" if is_clean else checked.api_detail

    def get_predictions(self, checked: CheckedUpload) -> int:
        return len(checked.predictions)


class VerdictSerializer(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(choices=Submission.Verdict.choices, allow_blank=True)
    reason = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="Public; required to disqualify."
    )


class PinSerializer(serializers.Serializer[Any]):
    is_pinned = serializers.BooleanField()


class OpenItemsSerializer(serializers.Serializer[Any]):
    has_open_items = serializers.BooleanField(help_text="Whether anyone can read them.")
