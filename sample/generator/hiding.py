"""A submission that hides the right page and shows a wrong one, so that the sample board shows that
hidden pages do not count.

Half of its pages are in a reasoning trace, half in an element that is not displayed. The answer
that a reader sees has a wrong digit in every number.
"""

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from portal.facts import visible_text

KEY = "simulated_hidden"
_NUMBER = re.compile(r"\d[\d,.]*")
_TRACE, _ELEMENT = "<think>\n{}\n</think>\n", '<div style="display:none">{}</div>\n'


def predictions(gold: Mapping[str, str]) -> str:
    """The lines of the submission file, from the gold pages by id."""
    lines = []
    for number, (page, html) in enumerate(gold.items()):
        right = escape(visible_text(html), quote=False)
        shown = f"<p>{_NUMBER.sub(_misread, right)}</p>"
        hiding = _ELEMENT if number % 2 else _TRACE
        lines.append(
            json.dumps({"id": page, "html": hiding.format(right) + shown}, ensure_ascii=False)
        )
    return "".join(f"{line}\n" for line in lines)


def _misread(number: "re.Match[str]") -> str:
    """Another first digit, which is never 0."""
    return str((int(number[0][0]) + 4) % 9 + 1) + number[0][1:]


def model_card() -> dict[str, Any]:
    return {
        "sample": True,
        "name": "Simulated: hides the right page",
        "organisation": "",
        "size": "",
        "category": "other",
        "link": "",
        "notes": "Simulated: the right page in a reasoning trace or a hidden element, and a wrong "
        "digit in every number of the answer. Only the answer counts.",
    }
