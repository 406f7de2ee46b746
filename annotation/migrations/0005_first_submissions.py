"""What was submitted and decided before first submissions and decisions had rows of their own."""

from typing import Any

from django.db import migrations


def freeze_submissions(apps: Any, schema_editor: Any) -> None:
    """Submitted work never changed until now, so that its spans are those of the submission."""
    first = apps.get_model("annotation", "FirstSubmission")
    assignments = apps.get_model("annotation", "Assignment").objects.filter(state="submitted")
    for assignment in assignments.iterator():
        spans = assignment.spans.order_by("start")
        rows = spans.values_list("start", "end", "label", "value", "sign")
        first.objects.create(
            assignment=assignment,
            spans=[list(row) for row in rows],
            submitted_at=assignment.submitted_at,
        )


def date_stages(apps: Any, schema_editor: Any) -> None:
    """A document was settled by its last submission, and gold then or by its last decision."""
    settled = apps.get_model("annotation", "CampaignDocument").objects.exclude(stage="annotation")
    for document in settled.iterator():
        submitted = document.assignments.order_by("-submitted_at").first()
        decided = document.cases.filter(state="decided").order_by("-decided_at").first()
        document.settled_at = submitted.submitted_at if submitted else None
        if document.stage == "gold":
            document.gold_at = decided.decided_at if decided else document.settled_at
        document.save(update_fields=["settled_at", "gold_at"])


def log_decisions(apps: Any, schema_editor: Any) -> None:
    """One decision for each decided case: how it was chosen was not recorded, so it is an edit."""
    decisions = apps.get_model("annotation", "Decision").objects
    for case in apps.get_model("annotation", "Case").objects.filter(state="decided").iterator():
        decision = decisions.create(
            case=case,
            choice="edit" if case.decision else "neither",
            spans=case.decision,
            reason=case.reason,
            decided_by=case.decided_by,
        )
        # The field takes the time of writing unless it is set afterwards.
        decisions.filter(pk=decision.pk).update(decided_at=case.decided_at)


def review_former_campaigns_not(apps: Any, schema_editor: Any) -> None:
    """Campaigns made before there were reviews go on without, until their leads choose them."""
    apps.get_model("annotation", "Campaign").objects.update(review_pages=0)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_quality_workflow")]

    operations = [
        migrations.RunPython(freeze_submissions, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(date_stages, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(log_decisions, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(review_former_campaigns_not, migrations.RunPython.noop, elidable=True),
    ]
