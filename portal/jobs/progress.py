"""What counts as a step of a job."""

from django.db.models import Case, F, PositiveBigIntegerField, Value, When


def steps_of_jobs() -> Case:
    """An expression over jobs: a job that declared no total is one step."""
    return Case(
        When(progress_total=0, then=Value(1)),
        default=F("progress_total"),
        output_field=PositiveBigIntegerField(),
    )
