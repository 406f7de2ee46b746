"""Creating and editing datasets."""

from typing import Any

from django.db import transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Dataset

EDITABLE = frozenset({"title", "description", "licence", "visibility"})


@transaction.atomic
def create_dataset(
    *,
    slug: str,
    title: str,
    description: str = "",
    licence: str = "",
    visibility: str = Dataset.Visibility.PRIVATE,
    is_sample: bool = False,
    actor: User | None = None,
) -> Dataset:
    """Creates an empty dataset; raises ValidationError by field."""
    dataset = Dataset(
        slug=slug,
        title=title,
        description=description,
        licence=licence,
        visibility=visibility,
        is_sample=is_sample,
        created_by=actor,
    )
    dataset.full_clean(exclude=["created_by"])
    dataset.save()
    record_event(verb="create_dataset", subject=dataset, actor=actor, slug=slug)
    return dataset


@transaction.atomic
def edit_dataset(*, dataset: Dataset, changes: dict[str, Any], actor: User | None) -> Dataset:
    """Writes the fields of EDITABLE that differ; the log keeps what they were."""
    stored = Dataset.objects.select_for_update().get(pk=dataset.pk)
    before = {
        name: getattr(stored, name)
        for name in sorted(EDITABLE & changes.keys())
        if getattr(stored, name) != changes[name]
    }
    for name in before:
        setattr(stored, name, changes[name])
    stored.full_clean(exclude=["created_by"])
    if before:
        stored.save(update_fields=list(before))
        record_event(verb="edit_dataset", subject=stored, actor=actor, before=before)
    return stored
