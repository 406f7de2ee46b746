"""The answer in a model's output: what a reader would be shown, without drafts and wrapping.

One rule for uploads and for `factboard run`. In this order: reasoning, the marks of chat formats,
code fences with prose around them, then hidden parts of a page (`scoring.metrics.hidden`), or what
surrounds and breaks a JSON value. Every step takes linear time on any text.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from .hidden import shown_html
from .loose_json import only_json

Form = Literal["html", "latex", "json", "text"]

REASONING = "reasoning removed"
MARKS = "chat marks removed"
FENCE = "code fences removed"
JSON_PART = "JSON extracted from other text"
JSON_REPAIR = "JSON repaired"


class Answer(NamedTuple):
    """The text that counts, and the names of the changes that led to it."""

    text: str
    changes: tuple[str, ...]


def read_answer(text: str, form: Form) -> Answer:
    """Return the answer in an output. Valid JSON is an answer already. Linear time; never raises.

    >>> read_answer("<think>Net sales 1,200?</think><p>Net sales 7,200</p>", "html")
    Answer(text='<p>Net sales 7,200</p>', changes=('reasoning removed',))
    >>> read_answer("<think>Net sales were 1,200, but", "text").text
    ''
    """
    if form == "json" and _is_json(text):
        return Answer(text, ())
    changes: list[str] = []
    for name, step in _steps(form):
        changed = step(text)
        if changed != text:
            changes.append(name)
            text = changed
    if form == "json":
        text, name = _json_only(text)
        changes += [name] * bool(name)
    if form in ("html", "text"):
        shown, hidden = shown_html(text)
        changes += hidden if shown != text else ()
        text = shown
    return Answer(text, tuple(changes))


def _steps(form: Form) -> Iterator[tuple[str, Callable[[str], str]]]:
    yield REASONING, without_reasoning
    yield MARKS, _without_marks
    yield FENCE, lambda text: _unfenced(text, form)


# --- reasoning ----------------------------------------------------------------------------------

_NAMES = (
    "think(?:ing)?|thoughts?|(?:chain|train)_of_thoughts?|(?:inner|internal)_(?:thoughts?|monologue)"
    "|reason(?:ing)?|reflect(?:ion)?|scratch_?pad|analysis|rationale|deliberation|cot"
)
_LESS = "(?:(?<=[<＜])|(?<=&)(?:amp;){0,3}(?:lt|[#]0{0,5}60|[#]x0{0,5}3c);)"
_MORE = "(?:>|＞|&(?:amp;){0,3}(?:gt|[#]0{0,5}62|[#]x0{0,5}3e);)"
# Tags, also with escaped brackets; the marks of models that have their own; and those of interfaces
# that fold reasoning.
_TRACE = re.compile(
    rf"""
    # All marks begin with one of these, so that the search can jump from one to the next.
    [<＜&[◁](?:
      {_LESS}[ \t]*(?P<end>/?)[ \t]*(?:[\w-]{{1,20}}:)?(?P<name>{_NAMES})
        (?:\s[^<>＜＞&]{{0,200}})?(?P<void>/?)[ \t]*{_MORE}
      | (?-i:(?<=\[)(?P<end_square>/?)(?:THINK|THINKING|THOUGHT|REASONING)\])
      | (?<=◁)(?P<end_triangle>/?)(?:think|thinking)▷
      | (?<=<)\|(?:(?P<end_bar>end_(?:of_)?|/)|begin_(?:of_)?|start_(?:of_)?)?
        (?:think|thinking|thoughts?|reasoning)\|>
      | (?<=<)unused94>(?:thought)?
      | (?<=<)(?P<end_unused>unused95>)
      | (?<=<)\|channel>thought
      | (?<=<)(?P<end_channel>channel\|>)
      | (?<=<)(?P<fold>details\b[^<>]*\btype\s*=\s*["']?reasoning\b[^<>]*>)
      | (?<=<)(?P<end_fold>/details\s*>)
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ENDS = ("end", "end_square", "end_triangle", "end_bar", "end_unused", "end_channel", "end_fold")
_THINK, _FOLD = "think", "details"


class _Mark(NamedTuple):
    """The beginning or the end of a trace. An end closes only traces of its own family."""

    family: str
    is_end: bool
    is_void: bool


def _mark(found: "re.Match[str]") -> _Mark:
    name = (found["name"] or "").lower()
    family = _THINK if not name or name.startswith(("think", "thought")) else name
    if found["fold"] or found["end_fold"]:
        family = _FOLD
    return _Mark(family, any(found.group(*_ENDS)), bool(found["void"]))


def without_reasoning(text: str) -> str:
    """Remove reasoning. A trace without an end has no answer after it; an end without a beginning
    makes everything before it reasoning.

    >>> without_reasoning("Sales 1,200?</think>Sales 7,200"), without_reasoning("[THINK]1,200")
    ('Sales 7,200', '')
    >>> without_reasoning("We think that sales were 1,200.")
    'We think that sales were 1,200.'
    """
    text = _final_message(text)
    pieces: list[str] = []
    position = 0
    inside = ""
    for found in _TRACE.finditer(text):
        mark = _mark(found)
        if inside:
            if mark.is_end and mark.family == inside:
                inside, position = "", found.end()
        elif not mark.is_end:
            pieces.append(text[position : found.start()])
            position = found.end()
            inside = "" if mark.is_void else mark.family
        elif mark.family != _FOLD:
            pieces.clear()
            position = found.end()
    if not position and not inside:
        return text
    if not inside:
        pieces.append(text[position:])
    return "\n".join(piece.strip("\n") for piece in pieces if piece.strip())


def reasoning_mark(text: str) -> Literal["begin", "end", ""]:
    """Return the kind of the first mark of reasoning. An end without a beginning means that the
    model's chat template began the reasoning.

    >>> reasoning_mark("1,200?</think>7,200"), reasoning_mark("7,200")
    ('end', '')
    """
    first = next((_mark(found) for found in _TRACE.finditer(text)), None)
    if first is None or (first.is_end and first.family == _FOLD):
        return ""
    return "end" if first.is_end else "begin"


# The messages of gpt-oss: one for each channel, of which the reader is shown the last kind.
_MESSAGE = re.compile(r"<\|channel\|>[ \t]*(\w*)[^<]*<\|message\|>")
_MESSAGE_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_FINAL = "final"
# The same without the special tokens, as some servers return it.
_UNMARKED_FINAL = "assistantfinal"
_UNMARKED = re.compile(r"\s*(?:analysis|commentary)")


def _final_message(text: str) -> str:
    """Return the messages of the final channel; a text without channels as it is."""
    if "<|channel|>" in text:
        return "\n".join(_messages(text))
    if _UNMARKED.match(text) and _UNMARKED_FINAL in text:
        return text.rpartition(_UNMARKED_FINAL)[2]
    return text


def _messages(text: str) -> Iterator[str]:
    for found in _MESSAGE.finditer(text):
        end = _MESSAGE_END.search(text, found.end())
        if found[1] == _FINAL:
            yield text[found.end() : end.start() if end else len(text)]


_CHAT_MARK = re.compile(
    r"<\|im_start\|>assistant\n?|<\|/?[a-z][a-z_]{1,30}\|>|</?(?:answer|solution|response)>",
    re.IGNORECASE,
)


def _without_marks(text: str) -> str:
    """Remove special tokens and the tags around an answer, which interfaces do not show."""
    return _CHAT_MARK.sub("", text)


# --- code fences --------------------------------------------------------------------------------

_PLAIN = frozenset({"text", "txt", "plaintext", "markdown", "md"})
_LATEX = frozenset({"latex", "tex"})
_LANGUAGES: dict[Form, frozenset[str]] = {
    # A page may be written in any form.
    "html": frozenset({"html", "xml", "xhtml"}) | _PLAIN | _LATEX,
    "latex": _LATEX,
    "json": frozenset({"json", "json5", "jsonc", "python"}),
    "text": _PLAIN,
}
_FENCE = "```"
_LANGUAGE = re.compile(r"`*[ \t]*([\w+-]*)")
# On a line of its own, or at the end of the answer.
_CLOSING = re.compile(r"\n[ \t]*```+|(?<!`)```++\s*+\Z")
# A part of a page rather than prose about it: a tag, a row of a table, a heading.
_SHORT = 200
_PAGE_PART = re.compile(r"<[a-z!/]|^[ \t]*[|#]|\\begin\{", re.IGNORECASE | re.MULTILINE)


class _Block(NamedTuple):
    """A code block: the range with its fences, its language, and its content."""

    start: int
    end: int
    language: str
    content: str


def _blocks(text: str) -> Iterator[_Block]:
    position = 0
    while (start := text.find(_FENCE, position)) >= 0:
        line_end = text.find("\n", start)
        if line_end < 0:
            return
        language = _LANGUAGE.match(text, start, line_end)
        closing = _CLOSING.search(text, line_end)
        stop, position = closing.span() if closing else (len(text), len(text))
        name = language[1].lower() if language else ""
        yield _Block(start, position, name, text[line_end + 1 : stop])


def _unfenced(text: str, form: Form) -> str:
    """Return the content of the only code block, if it is the whole answer, or has the wanted
    language and only prose around it."""
    blocks = _blocks(text)
    block = next(blocks, None)
    if block is None or next(blocks, None) is not None:
        return text
    around = (text[: block.start] + "\n" + text[block.end :]).strip()
    if not around:
        return block.content
    if block.language not in _LANGUAGES[form]:
        return text
    is_short = len(around) <= max(len(block.content), _SHORT)
    is_prose = is_short and not _PAGE_PART.search(around)
    return block.content if is_prose or form == "json" else text


# --- JSON ---------------------------------------------------------------------------------------


def _json_only(text: str) -> tuple[str, str]:
    """Return the only JSON value of a text, as JSON, and the change this is, if any."""
    if _is_json(text):
        return text, ""
    found = only_json(text)
    if found == text:
        return text, ""
    return found, JSON_PART if found in text else JSON_REPAIR


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False
