"""The tables of elements.toml: which elements and attributes of HTML mean what here."""

import tomllib
from importlib.resources import files

_TABLES = tomllib.loads(files("portal.facts").joinpath("elements.toml").read_text("utf-8"))

KEPT_ELEMENTS = frozenset(_TABLES["kept"])
KEPT_ATTRIBUTES: dict[str, frozenset[str]] = {
    element: frozenset(names) for element, names in _TABLES["attributes"].items()
}
DROPPED_RAW = frozenset(_TABLES["dropped_raw"])
DROPPED_NESTING = frozenset(_TABLES["dropped_nesting"])
VOID_ELEMENTS = frozenset(_TABLES["void"])
RAW_ELEMENTS = frozenset(_TABLES["raw"])
ESCAPABLE_RAW_ELEMENTS = frozenset(_TABLES["escapable_raw"])
FORMATTING_ELEMENTS = frozenset(_TABLES["formatting"])
PHRASING_ELEMENTS = frozenset(_TABLES["phrasing"])
TABLE_PARTS = frozenset(_TABLES["table_parts"])
TABLE_STRUCTURE = frozenset(_TABLES["table_structure"])
ELEMENT_NAMES = frozenset(_TABLES["names"])
EDGAR_ELEMENTS = frozenset(_TABLES["edgar"])
