"""JSON forms of comparisons."""

from typing import Any

from rest_framework import serializers


class ComparisonQuerySerializer(serializers.Serializer[Any]):
    entries = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="Numbers of two to five entries, such as `3,1`; the first is the one that the "
        "others are held against.",
    )


class IntervalSerializer(serializers.Serializer[Any]):
    low = serializers.FloatField()
    high = serializers.FloatField()


class DifferenceSerializer(serializers.Serializer[Any]):
    """A figure less that of another entry; `p_value` and `interval` are null where there is no
    test for this reader or this figure, or none yet."""

    value = serializers.FloatField(allow_null=True)
    p_value = serializers.FloatField(source="test.p_value", allow_null=True, default=None)
    interval = IntervalSerializer(source="test.interval", allow_null=True, default=None)


class ContestantSerializer(serializers.Serializer[Any]):
    entry = serializers.IntegerField(source="entry.pk")
    submission = serializers.IntegerField(source="submission.pk")
    name = serializers.CharField(source="entry.name")


class FigureCellSerializer(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True)
    difference = DifferenceSerializer(allow_null=True)


class FigureRowSerializer(serializers.Serializer[Any]):
    """A figure of every entry, in their order, with its difference from the first."""

    key = serializers.CharField(source="column.key")
    direction = serializers.CharField(source="column.direction")
    cells = FigureCellSerializer(many=True)


class PairSerializer(serializers.Serializer[Any]):
    """Two entries in the figure that decides; wins, ties and losses count items and are null where
    they are not told."""

    first = serializers.IntegerField(source="first.entry.pk")
    second = serializers.IntegerField(source="second.entry.pk")
    difference = DifferenceSerializer()
    wins = serializers.IntegerField(allow_null=True)
    ties = serializers.IntegerField(allow_null=True)
    losses = serializers.IntegerField(allow_null=True)


class ErrorRowSerializer(serializers.Serializer[Any]):
    """How many items of each entry have this kind of error."""

    name = serializers.CharField()
    counts = serializers.ListField(child=serializers.IntegerField())


class ItemCellSerializer(serializers.Serializer[Any]):
    submission = serializers.IntegerField()
    score = serializers.FloatField()


class ItemRowSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    cells = ItemCellSerializer(many=True)


class ComparisonSerializer(serializers.Serializer[Any]):
    """Entries side by side. While `is_ready` is false the tests are being computed: ask again.
    Where the phase rounds or parts its scores, `is_exact` is false and there are none."""

    phase = serializers.CharField(source="phase.slug")
    deciding = serializers.CharField(source="deciding.key")
    is_exact = serializers.BooleanField()
    is_ready = serializers.BooleanField()
    entries = ContestantSerializer(source="contestants", many=True)
    figures = FigureRowSerializer(many=True)
    pairs = PairSerializer(many=True)
    error_kinds = ErrorRowSerializer(source="error_rows", many=True)
    disputed = ItemRowSerializer(many=True)
