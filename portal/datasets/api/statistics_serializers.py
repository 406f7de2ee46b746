"""JSON form of a dataset's statistics."""

from typing import Any

from rest_framework import serializers

from portal.datasets.models import DocumentType
from portal.datasets.selectors.statistics import StatisticsPage
from portal.datasets.selectors.statistics_exports import FORMS


class StatisticsQuerySerializer(serializers.Serializer[Any]):
    release = serializers.CharField(
        required=False,
        default="",
        max_length=32,
        help_text="The release whose facts are counted; the newest one may see without it.",
    )


class StatisticsExportQuerySerializer(StatisticsQuerySerializer):
    form = serializers.ChoiceField(
        choices=FORMS,
        required=False,
        default=FORMS[0],
        help_text="`csv`: all figures; `latex`: the table; `facts`, `types`, `years`: charts as "
        "SVG.",
    )


class FactRowSerializer(serializers.Serializer[Any]):
    # `label` is a property of serializers already.
    def get_fields(self) -> dict[str, Any]:
        return {
            "label": serializers.CharField(help_text="Empty: all facts."),
            "total": serializers.IntegerField(),
            "average": serializers.FloatField(allow_null=True, help_text="Per labelled document."),
            "ratio": serializers.FloatField(allow_null=True, help_text="Of all facts, 0 to 1."),
        }


class BinSerializer(serializers.Serializer[Any]):
    low = serializers.IntegerField()
    high = serializers.IntegerField(help_text="Included.")
    documents = serializers.IntegerField()


class TypeFiguresSerializer(serializers.Serializer[Any]):
    doc_type = serializers.ChoiceField(choices=DocumentType.choices)
    documents = serializers.IntegerField()
    labelled = serializers.IntegerField(allow_null=True)
    facts = serializers.IntegerField(allow_null=True)


class YearFiguresSerializer(serializers.Serializer[Any]):
    year = serializers.IntegerField(allow_null=True)
    documents = serializers.IntegerField()


class StatisticsSerializer(serializers.Serializer[StatisticsPage]):
    """Where the gold is hidden, `rows` has all facts together only, and facts of types are null."""

    release = serializers.CharField(source="release.version", allow_null=True, default=None)
    documents = serializers.IntegerField(source="statistics.documents")
    pairs = serializers.IntegerField(
        source="statistics.pairs", help_text="Documents with at least one image."
    )
    labelled = serializers.IntegerField(
        source="statistics.labelled", help_text="Documents of the release."
    )
    rows = FactRowSerializer(many=True, source="statistics.rows")
    facts_per_document = BinSerializer(many=True, source="statistics.facts_per_document")
    types = TypeFiguresSerializer(many=True, source="statistics.types")
    years = YearFiguresSerializer(many=True, source="statistics.years")
    untold_years = serializers.IntegerField(
        help_text="Documents that are in no year because their content is hidden."
    )
