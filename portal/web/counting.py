"""Counting the rows of a query by a field."""

from typing import Any

from django.db.models import Count, Manager, QuerySet


def count_by(rows: "QuerySet[Any, Any] | Manager[Any]", field: str) -> dict[Any, int]:
    """Return the number of rows by value of the field, with one query."""
    return dict(rows.order_by().values_list(field).annotate(Count("pk")))
