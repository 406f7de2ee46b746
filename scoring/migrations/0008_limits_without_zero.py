"""Give phases with a limit of 0, which nothing can satisfy, one that the forms accept.

A limit of 0 failed attempts refused every submission: it becomes no limit. A limit of 0 scores
becomes 1, as no limit would show more of hidden gold than the organiser chose.
"""

from typing import Any

from django.db import migrations


def replace_zeros(apps: Any, _: Any) -> None:
    phases = apps.get_model("scoring", "Phase").objects
    phases.filter(failed_per_day=0).update(failed_per_day=None)
    for name in ("per_day", "in_total"):
        phases.filter(**{name: 0}).update(**{name: 1})


class Migration(migrations.Migration):
    dependencies = [("scoring", "0007_endpoint_extras")]

    operations = [migrations.RunPython(replace_zeros, migrations.RunPython.noop)]
