"""JSON forms of a dataset's tasks."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from portal.datasets.models import DatasetTask
from portal.datasets.services.task_options import OptionsError, check_options


class TaskSerializer(serializers.ModelSerializer[DatasetTask]):
    """A task as far as it is: `done` of `total` steps."""

    class Meta:
        model = DatasetTask
        fields = [
            "id",
            "kind",
            "options",
            "state",
            "done",
            "total",
            "error",
            "created_at",
            "finished_at",
        ]


class TaskFaultSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="The document's.")
    code = serializers.CharField()
    reason = serializers.CharField()


class TaskReportSerializer(serializers.Serializer[Any]):
    counts = serializers.DictField(child=serializers.IntegerField())
    faults = TaskFaultSerializer(many=True)
    faults_left_out = serializers.IntegerField()


class TaskDetailSerializer(TaskSerializer):
    """A task with its report; some kinds tell it while they work, others once they have ended."""

    report = serializers.SerializerMethodField()

    class Meta(TaskSerializer.Meta):
        fields = [*TaskSerializer.Meta.fields, "report"]

    @extend_schema_field(TaskReportSerializer)
    def get_report(self, task: DatasetTask) -> dict[str, Any]:
        empty: dict[str, Any] = {"counts": {}, "faults": [], "faults_left_out": 0}
        return {key: task.report.get(key, value) for key, value in empty.items()}


class TaskStartSerializer(serializers.Serializer[Any]):
    """What a worker is to do; which options there are depends on the kind."""

    kind = serializers.ChoiceField(choices=DatasetTask.Kind.choices)
    options = serializers.DictField(required=False, default=dict)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            options = check_options(attrs["kind"], attrs["options"])
        except OptionsError as error:
            raise serializers.ValidationError({"options": [str(error)]}) from error
        return attrs | {"options": options}
