"""What several endpoints tell the OpenAPI document."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers

# How a file that is JSON itself is told apart: any JSON is a fitting answer then.
JSON = "application/json"
# Of a row: a database takes no larger number, not even to find nothing by it.
LARGEST_KEY = 2**63 - 1


class ErrorSerializer(serializers.Serializer[Any]):
    """Why nothing was done, in words."""

    detail = serializers.CharField()


def file_answers(media_types: Iterable[str]) -> dict[tuple[int, str], OpenApiTypes]:
    """The answers of an endpoint that gives a file of one of these types."""
    return {
        (200, kind): OpenApiTypes.ANY if kind == JSON else OpenApiTypes.BINARY
        for kind in sorted(set(media_types))
    }
