"""JSON forms of a submission's items and their facts, and of the question for them."""

from typing import Any

from rest_framework import serializers

from scoring.selectors.item_lists import LONGEST_SEARCH, SHOWN, ItemQuery, orders_of


class EarlierResultSerializer(serializers.Serializer[Any]):
    grading = serializers.IntegerField(
        required=False,
        default=None,
        min_value=1,
        help_text="The number of an earlier result, as `history` tells it.",
    )


class ItemQuerySerializer(EarlierResultSerializer):
    """Which items, in which order."""

    order = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=LONGEST_SEARCH,
        help_text="`hardest`, `easiest` or `name`, or a key of the items' `scores`: the best "
        "first, with `-` before it the worst. The release's without.",
    )
    show = serializers.ChoiceField(
        choices=[key for key in SHOWN if key], required=False, default="", allow_blank=True
    )
    part = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=LONGEST_SEARCH,
        help_text="A document type, task or subset; where the phase shows every fact.",
    )
    error = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=LONGEST_SEARCH,
        help_text="A kind of error; where the phase shows every fact.",
    )
    q = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=LONGEST_SEARCH,
        help_text="A part of the id.",
    )

    def validate_order(self, order: str) -> str:
        """`grading` of the context says which figures there are."""
        if order not in (known := orders_of(self.context["grading"])):
            named = ", ".join(key for key in known if key)
            raise serializers.ValidationError(f"There is no such order; there are {named}.")
        return order

    def query(self) -> ItemQuery:
        """After it was found valid."""
        wanted = dict(self.validated_data)
        wanted.pop("grading")
        return ItemQuery.parse(**wanted)


class FactSerializer(serializers.Serializer[Any]):
    n = serializers.IntegerField()
    type = serializers.CharField()
    value = serializers.CharField()
    correct = serializers.BooleanField()
    found = serializers.BooleanField()
    matched_text = serializers.CharField(allow_null=True)
    confidence = serializers.FloatField(
        allow_null=True, help_text="How well the context speaks for the match, in [0, 1]."
    )
    error = serializers.CharField(allow_null=True)
    beside = serializers.DictField(
        child=serializers.BooleanField(),
        allow_null=True,
        help_text="Whether it is correct by each matcher beside the board's, by name; null in "
        "results from before there were any.",
    )
    why = serializers.CharField(
        allow_blank=True, help_text="The LLM judge's reason; empty where none was asked."
    )
    overruled = serializers.CharField(
        allow_blank=True,
        help_text="Why what the judge said of the fact does not stand; empty where it does.",
    )


class ItemLineSerializer(serializers.Serializer[Any]):
    """An item with its own scores."""

    name = serializers.CharField()
    is_missing = serializers.BooleanField()
    score = serializers.FloatField(
        allow_null=True, help_text="Of the item alone, higher is better: what items are ordered by."
    )
    part = serializers.CharField(
        allow_null=True, help_text="Its document type, task or subset; null where it is not told."
    )
    error_kinds = serializers.ListField(
        source="errors",
        child=serializers.CharField(),
        allow_null=True,
        help_text="Its kinds of errors; null where they are not told.",
    )
    scores = serializers.DictField(child=serializers.FloatField(allow_null=True))


class ExtraSerializer(serializers.Serializer[Any]):
    """Numbers and dates of the prediction: all, and those that match nothing in the gold page."""

    tokens = serializers.IntegerField()
    count = serializers.IntegerField()
    shown = serializers.ListField(child=serializers.CharField())


class FieldRowSerializer(serializers.Serializer[Any]):
    path = serializers.CharField()
    text = serializers.CharField(help_text="Its beginning, if `is_cut`.")
    is_cut = serializers.BooleanField()


class FieldTableSerializer(serializers.Serializer[Any]):
    """The fields of the gold, the prediction or the result; the first of them, if `has_more`."""

    title = serializers.CharField()
    rows = FieldRowSerializer(many=True)
    has_more = serializers.BooleanField()


class ItemSerializer(ItemLineSerializer):
    """An item. Where the phase shows scores only, the rest is null; `facts` and `hallucinated` are
    of benchmarks of facts, `tables` of all others."""

    facts = FactSerializer(source="fact_lines", many=True, allow_null=True)
    hallucinated = ExtraSerializer(source="extra", allow_null=True)
    tables = FieldTableSerializer(many=True, allow_null=True)
