"""Changes to raw answers that papers make before they score them. Each has a name, is counted in
the manifest, and is left out with `--raw`.
"""

import ast
import json
import re
from collections.abc import Callable
from typing import Any, Literal

Form = Literal["html", "latex", "json", "text"]

REASONING = "reasoning removed"
FENCE = "taken out of a code block"
JSON_PART = "JSON taken out of other text"
JSON_REPAIR = "JSON repaired"
CHARACTERS = "characters replaced that no file can have"

_THINK = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)
_BLOCK = re.compile(r"```[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_LANGUAGES: dict[Form, frozenset[str]] = {
    "html": frozenset({"html", "xml"}),
    "latex": frozenset({"latex", "tex"}),
    "json": frozenset({"json", "json5", "python"}),
    "text": frozenset({"text", "txt", "plaintext", "markdown", "md"}),
}
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
# Longer texts are not repaired: they are no answers to a question.
_LONGEST_JSON = 1_000_000


def repaired(text: str, form: Form) -> tuple[str, list[str]]:
    """The answer after every change that applies, and the names of these."""
    changes: list[str] = []
    steps: list[tuple[str, Callable[[str], str]]] = [
        (REASONING, _without_reasoning),
        (FENCE, lambda each: _unfenced(each, form)),
    ]
    if form == "json":
        steps += [(JSON_PART, _json_part), (JSON_REPAIR, _json_repaired)]
    for name, step in steps:
        changed = step(text)
        if changed != text:
            changes.append(name)
            text = changed
    return text, changes


def _without_reasoning(text: str) -> str:
    return _THINK.sub("", text, count=1)


def _unfenced(text: str, form: Form) -> str:
    """The content of the only code block, if it is the whole answer or of the wanted language."""
    blocks = list(_BLOCK.finditer(text))
    if len(blocks) != 1:
        return text
    (block,) = blocks
    is_whole = not (text[: block.start()] + text[block.end() :]).strip()
    return block[2] if is_whole or block[1].lower() in _LANGUAGES[form] else text


def _json_part(text: str) -> str:
    """The text from the first bracket to the last one, if it is JSON and the whole is not."""
    if _is_json(text):
        return text
    part = _between(text)
    return part if part and _is_json(part) else text


def _between(text: str) -> str:
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    end = max(text.rfind("}"), text.rfind("]"))
    return text[min(starts) : end + 1] if starts and end > min(starts) else ""


def _json_repaired(text: str) -> str:
    """JSON with commas before closing brackets, or with the words and quotes of Python."""
    if len(text) > _LONGEST_JSON or _is_json(text):
        return text
    part = _between(text)
    if not part:
        return text
    plain = _without_trailing_commas(part)
    if _is_json(plain):
        return plain
    value = _python_value(part)
    return text if value is None else json.dumps(value, ensure_ascii=False)


def _without_trailing_commas(text: str) -> str:
    """Leaves commas in strings alone."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[0])
        return '""'

    bare = _TRAILING_COMMA.sub(r"\1", _STRINGS.sub(keep, text))
    strings = iter(kept)
    return re.sub('""', lambda _: next(strings), bare)


def _python_value(text: str) -> Any:
    """The object or list of a Python literal, such as `{'a': True}`; None for anything else."""
    try:
        value = ast.literal_eval(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def storable(text: str) -> tuple[str, list[str]]:
    """The text without NUL and halves of surrogate pairs, which no benchmark accepts. This change
    is made even to raw answers."""
    fixed = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    fixed = fixed.encode("utf-8", "replace").decode("utf-8")
    return fixed, [CHARACTERS] if fixed != text else []
