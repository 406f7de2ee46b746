"""Gives what was there before the workbench's second version its values and guidelines versions."""

from django.db import migrations

from portal.facts import read_value

AT_ONCE = 1_000


def derive_values(apps, schema_editor):
    """Spans get the value and sign that their quotes mean; until now nobody could say otherwise."""
    for name in ("Span", "GoldSpan"):
        model = apps.get_model("annotation", name)
        batch = []
        for span in model.objects.order_by("pk").only("quote", "label").iterator(AT_ONCE):
            span.value, span.sign = read_value(span.quote, span.label)
            batch.append(span)
            if len(batch) == AT_ONCE:
                model.objects.bulk_update(batch, ["value", "sign"], batch_size=200)
                batch = []
        model.objects.bulk_update(batch, ["value", "sign"], batch_size=200)


def write_versions(apps, schema_editor):
    """Former guidelines are in the log of events, each with the moment in which it was replaced."""
    event = apps.get_model("audit", "Event")
    version = apps.get_model("annotation", "GuidelinesVersion")
    for campaign in apps.get_model("annotation", "Campaign").objects.order_by("pk"):
        edits = event.objects.filter(
            subject_type="annotation.campaign", subject_id=str(campaign.pk), verb="edit_guidelines"
        ).order_by("pk")
        edits = [edit for edit in edits if "former" in edit.data]
        texts = [*(edit.data["former"] for edit in edits), campaign.guidelines]
        authors = [campaign.created_by_id, *(edit.actor_id for edit in edits)]
        times = [campaign.created_at, *(edit.at for edit in edits)]
        for number, (text, author, time) in enumerate(zip(texts, authors, times), start=1):
            row = version.objects.create(
                campaign=campaign, number=number, text=text, author_id=author
            )
            version.objects.filter(pk=row.pk).update(created_at=time)
        campaign.guidelines_version = len(texts)
        campaign.save(update_fields=["guidelines_version"])


def forget(apps, schema_editor):
    """Backwards: the schema's own migration drops what was written."""
    apps.get_model("annotation", "GuidelinesVersion").objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [
        ("annotation", "0002_workbench"),
        ("audit", "0001_initial"),
    ]

    operations = [
        migrations.RunPython(derive_values, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(write_versions, forget, elidable=True),
    ]
