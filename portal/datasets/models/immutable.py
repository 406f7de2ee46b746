"""Rows that never change after they are written.

The base classes refuse `save` of a stored row, `delete`, and a QuerySet's `update` and `delete`.
Changes by the database itself are still possible, such as NULL in place of a deleted account.
"""

from collections.abc import Iterable
from typing import Any, Generic, NoReturn, TypeVar

from django.db import models

Row = TypeVar("Row", bound=models.Model)


class ImmutableRowError(Exception):
    """An immutable row must not be changed or deleted."""

    def __init__(self, model: type[models.Model], act: str) -> None:
        super().__init__(f"a {model._meta.verbose_name} never changes: {act} is refused")


class ImmutableQuerySet(models.QuerySet[Row], Generic[Row]):
    def update(self, **_: Any) -> NoReturn:
        raise ImmutableRowError(self.model, "update")

    def delete(self) -> NoReturn:
        raise ImmutableRowError(self.model, "delete")

    def bulk_create(
        self, objs: Iterable[Row], *args: Any, update_conflicts: bool = False, **kwargs: Any
    ) -> list[Row]:
        if update_conflicts:
            raise ImmutableRowError(self.model, "update")
        return super().bulk_create(objs, *args, **kwargs)


class ImmutableModel(models.Model):
    """A model whose rows are inserted and never changed."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise ImmutableRowError(type(self), "save")
        super().save(*args, **kwargs)

    def delete(self, *_: Any, **__: Any) -> NoReturn:
        raise ImmutableRowError(type(self), "delete")
