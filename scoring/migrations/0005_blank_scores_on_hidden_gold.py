"""Blank the published scores on hidden gold. They had one decimal whatever the number of items; the
upkeep of the worker computes how exactly they may be shown, and writes them again."""

from typing import Any

from django.db import migrations
from django.db.models import F, Q


def blank_scores(apps: Any, _: Any) -> None:
    release = "phase__release__visibility"
    is_open = Q(**{release: "public"}) | Q(**{release: "gold_hidden", "phase__split": "dev"})
    is_protected = Q(phase__score_decimals__isnull=False) & ~is_open
    entries = apps.get_model("scoring", "Entry").objects.filter(is_protected, grading__isnull=False)
    boards = list(entries.order_by().values_list("board", flat=True).distinct())
    entries.update(scores={}, parts={}, intervals={}, ranks={}, ranked_among="")
    apps.get_model("scoring", "RankMove").objects.filter(is_protected).update(
        score_before=None, score_after=None
    )
    apps.get_model("scoring", "Board").objects.filter(pk__in=boards).update(
        revision=F("revision") + 1
    )


class Migration(migrations.Migration):
    dependencies = [("scoring", "0004_scores_over_gold")]

    operations = [migrations.RunPython(blank_scores, migrations.RunPython.noop)]
