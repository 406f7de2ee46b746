"""API serializers generated from the dataclasses that selectors return, and lists in pages."""

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.response import Response

_PLAIN: dict[Any, type[serializers.Field[Any, Any, Any, Any]]] = {
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    str: serializers.CharField,
    datetime: serializers.DateTimeField,
    date: serializers.DateField,
    Any: serializers.JSONField,
}

# The first serializer of each dataclass, used wherever the dataclass is nested.
_made: dict[type[Any], type[serializers.Serializer[Any]]] = {}


def answer(
    shape: type[Any], name: str = "", /, *, leave_out: Collection[str] = (), **given: Any
) -> type[serializers.Serializer[Any]]:
    """Return a serializer class for a dataclass, with fields derived from its annotations.

    `X | None` allows null; sequences become lists, mappings objects, dataclasses nested
    serializers, and a Literal or enumeration a choice. `name` is the OpenAPI component, by default
    the name of the dataclass. Nested dataclasses reuse their first serializer. `given` overrides
    fields; a string becomes the description of the field. Raises TypeError for unsupported
    annotations.
    """
    hints = get_type_hints(shape)
    chosen = [field.name for field in fields(shape) if field.name not in leave_out]
    made: dict[str, Any] = {}
    for field in [*chosen, *(extra for extra in given if extra not in chosen)]:
        own = given.get(field)
        if isinstance(own, serializers.Field):
            # A copy, because REST framework orders fields by their time of creation.
            made[field] = deepcopy(own)
        else:
            made[field] = _field(hints[field], {"help_text": own} if own else {})
    label = name or shape.__name__
    doc = {"__doc__": shape.__doc__, "__module__": shape.__module__}
    finished = type(label, (serializers.Serializer,), made | doc)
    _made.setdefault(shape, finished)
    return finished


def _field(hint: Any, terms: dict[str, Any]) -> serializers.Field[Any, Any, Any, Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType) and NoneType in inner and len(inner) == 2:
        (other,) = (one for one in inner if one is not NoneType)
        return _field(other, terms | {"allow_null": True})
    if hint in _PLAIN:
        return _PLAIN[hint](**terms)
    if origin is Literal:
        return serializers.ChoiceField(choices=list(inner), **terms)
    if isinstance(hint, type) and issubclass(hint, Enum):
        choices = getattr(hint, "choices", [member.value for member in hint])
        return serializers.ChoiceField(choices=choices, **terms)
    if isinstance(hint, type) and is_dataclass(hint):
        return (_made.get(hint) or answer(hint))(**terms)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return serializers.DictField(child=_field(inner[1], {}), **terms)
    if isinstance(origin, type) and issubclass(origin, Collection) and inner:
        if isinstance(inner[0], type) and is_dataclass(inner[0]):
            return (_made.get(inner[0]) or answer(inner[0]))(many=True, **terms)
        return serializers.ListField(child=_field(inner[0], {}), **terms)
    raise TypeError(f"no field of an answer is known for {hint}")


class ReadableSerializer(serializers.Serializer[Any]):
    """A row whose fields `HIDDEN` are null unless it is `readable`."""

    HIDDEN: Collection[str] = ()

    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        return shown if instance.readable else shown | dict.fromkeys(self.HIDDEN)


class ListingView(GenericAPIView[Any]):
    """A view that lists rows in pages."""

    def listed(
        self, found: Any, rows: Callable[[Sequence[Any]], Collection[Any]] = list
    ) -> Response:
        """Return the requested page of a query; `rows` prepares its objects for the serializer."""
        page = rows(self.paginate_queryset(found) or [])
        return self.get_paginated_response(self.get_serializer(page, many=True).data)
