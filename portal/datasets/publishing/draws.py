"""How the splits of a release were drawn, as it is published and read back."""

from typing import Any

from .rows import PublishingError

_COUNTS = ("seed", "items", "test_items", "groups", "divided")
_LONGEST = 40


def read_draw(value: Any) -> dict[str, Any]:
    """What a release tells of its draw: share, seed, group_by and counts; empty for none.

    Anything else in it stays out. Raises PublishingError, for archives come from outside.

    >>> read_draw({"share": 0.5, "seed": 7, "group_by": "filing", "kinds": []})
    {'share': 0.5, 'group_by': 'filing', 'seed': 7}
    """
    if not value:
        return {}
    if not isinstance(value, dict):
        raise PublishingError("draw", "not an object")
    share, group_by = value.get("share"), value.get("group_by")
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 < share < 1:
        raise PublishingError("draw.share", "not a number above 0 and below 1")
    if not isinstance(group_by, str) or len(group_by) > _LONGEST:
        raise PublishingError("draw.group_by", f"not a text of at most {_LONGEST} characters")
    counts = {key: value[key] for key in _COUNTS if key in value}
    if wrong := next((key for key, count in counts.items() if not _is_count(count)), ""):
        raise PublishingError(f"draw.{wrong}", "not a count")
    return {"share": share, "group_by": group_by, **counts}


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def draw_words(draw: dict[str, Any]) -> str:
    """A draw in a sentence, with its share beside the wanted one; empty for none.

    >>> draw_words({"share": 0.5, "seed": 7, "group_by": "filing", "items": 9, "test_items": 4,
    ...             "groups": 3, "divided": 0})
    'Drawn by filing with seed 7: 4 of 9 items (44.4 %, wanted 50 %) in 3 groups are the test part.'
    """
    if "test_items" not in draw or not draw.get("items"):
        return ""
    by = "" if draw["group_by"] == "none" else f" by {draw['group_by']}"
    reached = 100 * draw["test_items"] / draw["items"]
    words = (
        f"Drawn{by} with seed {draw.get('seed', 0)}: {draw['test_items']:,} of"
        f" {draw['items']:,} items ({reached:.1f} %, wanted {100 * draw['share']:g} %)"
        f" in {draw.get('groups', 0):,} groups are the test part."
    )
    if divided := draw.get("divided"):
        words += f" Earlier releases have {divided:,} of the groups in both parts."
    return words


def draw_deviations(draw: dict[str, Any]) -> str:
    """The kinds of items whose share in the test part is another than the wanted, in a sentence.

    Differences below one item do not count.

    >>> draw_deviations({"share": 0.5, "kinds": [{"kind": "tax_form", "items": 8, "test_items": 6},
    ...                                          {"kind": "other", "items": 5, "test_items": 2}]})
    'Away from the wanted share: tax_form 6 of 8 (4 wanted).'
    """
    away = [
        f"{row['kind'] or 'no type'} {row['test_items']:,} of {row['items']:,}"
        f" ({draw['share'] * row['items']:.3g} wanted)"
        for row in draw.get("kinds", ())
        if abs(row["test_items"] - draw["share"] * row["items"]) >= 1
    ]
    return f"Away from the wanted share: {', '.join(away)}." if away else ""
