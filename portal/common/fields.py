"""Model fields of our own."""

from typing import Any

from django.db import models


class LinkField(models.URLField):  # type: ignore[type-arg]
    """A web address; one typed without a scheme is taken as https, as Django 6 will."""

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(**{"assume_scheme": "https", **kwargs})

    def deconstruct(self) -> Any:
        """In migrations it is the plain field: the two differ in forms only."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.URLField", args, kwargs
