"""Recognises the exports of other annotation tools, so that an error can name them."""

from collections.abc import Mapping
from typing import Any

_LABEL_STUDIO_MIN = frozenset({"annotation_id", "annotator", "lead_time", "annotators"})
_PRODIGY = frozenset({"_input_hash", "_task_hash", "answer", "_session_id"})
_WAY_OUT = "convert it to tasks as in Label Studio's JSON export"


def other_tool(item: object) -> str:
    """Name the export that a decoded task or line is from, and what to do; empty if unknown.

    >>> other_tool({"html": "<p>1</p>", "annotation_id": 3, "labels": []})
    "this is Label Studio's JSON-MIN export; export as JSON instead"
    """
    if not isinstance(item, dict) or "data" in item:
        return ""
    if not _LABEL_STUDIO_MIN.isdisjoint(item) and "spans" not in item:
        return "this is Label Studio's JSON-MIN export; export as JSON instead"
    if not isinstance(item.get("text"), str):
        return ""
    if _is_doccano(item):
        return f"this is an export of doccano, which is not supported; {_WAY_OUT}"
    if not _PRODIGY.isdisjoint(item) or ("spans" in item and "name" not in item):
        return f"this is an export of Prodigy, which is not supported; {_WAY_OUT}"
    return ""


def _is_doccano(item: Mapping[str, Any]) -> bool:
    labels = item.get("label", item.get("labels", item.get("entities")))
    if not isinstance(labels, list) or "spans" in item:
        return False
    return all(_is_doccano_label(label) for label in labels)


def _is_doccano_label(label: object) -> bool:
    if isinstance(label, dict):
        return "start_offset" in label
    return isinstance(label, list) and len(label) == 3
