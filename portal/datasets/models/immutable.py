"""Rows that are written once.

The base class closes the ways of the ORM: `save` of a stored row, `delete`, and a QuerySet's
`update` and `delete`. What the database itself does on behalf of another row (an account that was
deleted leaves NULL) stays possible, or accounts could never be deleted.
"""

from collections.abc import Iterable
from typing import Any, Generic, NoReturn, TypeVar

from django.db import models

Row = TypeVar("Row", bound=models.Model)


class ImmutableRowError(Exception):
    """Something tried to change or delete a row that was written once and for all."""

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
    """A model whose rows are inserted and never touched again."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise ImmutableRowError(type(self), "save")
        super().save(*args, **kwargs)

    def delete(self, *_: Any, **__: Any) -> NoReturn:
        raise ImmutableRowError(type(self), "delete")
