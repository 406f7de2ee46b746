"""The shapes of the qualification round and of the quality of annotators."""

from typing import Any

from rest_framework import serializers

from annotation.models import Assignment
from annotation.qualification_forms import MAX_PAGES, MAX_REASON, MAX_SEED


class KnownSpan(serializers.Serializer[Any]):
    label = serializers.CharField()  # type: ignore[assignment]
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    quote = serializers.CharField()


class QualificationFinding(serializers.Serializer[Any]):
    outcome = serializers.CharField(help_text="right, label, boundary, missed or extra.")
    gold = KnownSpan(many=True)
    marked = KnownSpan(many=True)


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
    f1 = serializers.FloatField(allow_null=True, help_text="Of the last try.")
    tries = QualificationTry(source="results", many=True)


class OwnQualificationPage(QualificationPage):
    findings = QualificationFinding(
        many=True, help_text="Right and wrong, of a page that is submitted; else empty."
    )


class QualificationRound(serializers.Serializer[Any]):
    qualified = serializers.BooleanField(source="is_qualified")
    qualified_at = serializers.DateTimeField(allow_null=True)
    failed = serializers.BooleanField(source="has_failed")
    f1 = serializers.FloatField(
        allow_null=True, help_text="Over the last tries at all pages; null until all are submitted."
    )
    facts = serializers.IntegerField(help_text="Known facts of the pages submitted.")


class OwnQualification(QualificationRound):
    pages = OwnQualificationPage(many=True)


class AnnotatorQualification(QualificationRound):
    id = serializers.IntegerField(source="member.pk", help_text="Of the membership.")
    annotator = serializers.CharField(source="name")
    reason = serializers.CharField(help_text="Why they were qualified by decision, if so.")
    pages = QualificationPage(many=True)


class KnownPage(serializers.Serializer[Any]):
    document = serializers.CharField(source="name")
    facts = serializers.IntegerField()
    source = serializers.CharField()  # type: ignore[assignment]


class GoldSource(serializers.Serializer[Any]):
    source = serializers.CharField(  # type: ignore[assignment]
        source="key", help_text="`release:ID` or `campaign:SLUG`."
    )
    title = serializers.CharField()
    pages = serializers.IntegerField()


class CampaignQualification(serializers.Serializer[Any]):
    threshold = serializers.FloatField(help_text="The F1 that has to be reached.")
    own = OwnQualification(allow_null=True, help_text="For annotators; else null.")
    annotators = AnnotatorQualification(many=True, help_text="For leads, organisers; else empty.")
    pages = KnownPage(many=True, help_text="For leads, organisers; else empty.")
    sources = GoldSource(many=True, help_text="For leads, organisers; else empty.")


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
        help_text="How many pages to draw; instead of `names`.",
    )  # fmt: skip
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MAX_SEED)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if bool(attrs["names"]) == bool(attrs["count"]):
            raise serializers.ValidationError("Give either names or count.")
        return attrs


class AddedQualification(serializers.Serializer[Any]):
    documents = serializers.ListField(child=serializers.CharField())


class GrantedTry(serializers.Serializer[Any]):
    pages = serializers.IntegerField(help_text="How many are open again.")


class QualifyingDecision(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=MAX_REASON)


class Qualified(serializers.Serializer[Any]):
    qualified_at = serializers.DateTimeField()


class GoldTally(serializers.Serializer[Any]):
    expected = serializers.IntegerField(help_text="Facts of the gold.")
    marked = serializers.IntegerField()
    matched = serializers.IntegerField()
    precision = serializers.FloatField(allow_null=True)
    recall = serializers.FloatField(allow_null=True)
    f1 = serializers.FloatField(allow_null=True)
    missed = serializers.IntegerField()
    extra = serializers.IntegerField()
    boundary = serializers.IntegerField()
    label = serializers.IntegerField()  # type: ignore[assignment]


class QualityPart(serializers.Serializer[Any]):
    name = serializers.CharField()
    pages = serializers.IntegerField()
    tally = GoldTally()


class AnnotatorQualityRow(serializers.Serializer[Any]):
    annotator = serializers.CharField(source="name")
    submitted = serializers.IntegerField(help_text="Pages submitted.")
    gold_pages = serializers.IntegerField(help_text="Pages that the figures stand on.")
    tally = GoldTally()
    labels = QualityPart(many=True)
    periods = QualityPart(many=True)
    minutes = serializers.FloatField(
        allow_null=True, help_text="Median of active minutes, of pages all submitted."
    )
    timed = serializers.IntegerField(help_text="Pages whose time was measured.")
    flagged = serializers.IntegerField()
    skipped = serializers.IntegerField()


class AnnotatorQuality(serializers.Serializer[Any]):
    every = serializers.CharField()
    pages = serializers.IntegerField(help_text="Gold pages that two or more people labelled.")
    single = serializers.IntegerField(help_text="Gold pages that one person labelled: left out.")
    annotators = AnnotatorQualityRow(many=True)
