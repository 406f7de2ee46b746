"""Names of the copies of a document in a stress variant.

A copy has the name of its document. A variant that keeps the normal images also has a rotated copy
of each, under a name of its own. Hidden documents are hidden under all names.
"""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import F, Q, Value
from django.db.models.functions import Concat
from django.db.models.lookups import Exact

# The kind of capture that keeps the normal images; a test compares it with `variants.captures`.
NORMAL_AND_ROTATED = "normal_and_rotated"
_TURNS = (0, 90, 180, 270)


def copy_name(name: str, degrees: int) -> str:
    """The name of a document's rotated copy."""
    return f"{name}@{degrees}"


def _turned() -> list[Concat]:
    return [Concat("name", Value(copy_name("", degrees))) for degrees in _TURNS]


def names_of_copies(derivation: Mapping[str, Any] | None) -> list[F | Concat]:
    """The names that copies of a document can have in a variant, as expressions."""
    has_turned = (derivation or {}).get("kind") == NORMAL_AND_ROTATED
    return [F("name"), *(_turned() if has_turned else ())]


def is_copied_as(name: Any) -> Q:
    """Whether a copy of the document in any variant can have this name."""
    return reduce(or_, (Q(Exact(each, name)) for each in _turned()), Q(name=name))
