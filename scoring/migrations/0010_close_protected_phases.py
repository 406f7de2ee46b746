"""Phases that round their scores on hidden gold get the default share of new ones."""

from typing import Any

from django.db import migrations


def close_protected(apps: Any, _: Any) -> None:
    phases = apps.get_model("scoring", "Phase").objects.filter(score_decimals__isnull=False)
    phases.exclude(release__visibility="public").update(closing_share=50)


class Migration(migrations.Migration):
    dependencies = [("scoring", "0009_bits_of_attempts")]

    operations = [migrations.RunPython(close_protected, migrations.RunPython.noop)]
