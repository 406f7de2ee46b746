"""The same text, whatever form it is written in.

`fold` removes differences of encoding and typography, `unfenced` code fences. `plain_text` also
removes the markup of Markdown and LaTeX, so that a page costs nothing for its form. All are applied
to gold and prediction alike, and take linear time.
"""

import re
import unicodedata
from html import unescape

from .reading import without_preamble

_SINGLE_QUOTES = "‘’‚‛′ʼ´"
_DOUBLE_QUOTES = "“”„‟″"
_DASHES = "‐‑‒–—―−⁃˗﹘﹣－➖"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
# Forms of a digit that mean something else next to a number: 10² is not 102, and 1½ not 11/2.
_KEPT = ("<super>", "<sub>", "<circle>", "<fraction>")


class _Folding(dict[int, str]):
    """The folded form of each character, found when it is first needed."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if not unicodedata.decomposition(character).startswith(_KEPT):
            character = unicodedata.normalize("NFKC", character)
        self[code] = character
        return character


_FOLDED = _Folding(
    {
        **dict.fromkeys(map(ord, _SINGLE_QUOTES), "'"),
        **dict.fromkeys(map(ord, _DOUBLE_QUOTES), '"'),
        **dict.fromkeys(map(ord, _DASHES), "-"),
        **dict.fromkeys([*map(ord, _INVISIBLE), *range(0xFE00, 0xFE10)], ""),
        **{code: chr(code) for code in range(0xD800, 0xE000)},
    }
)


def fold(text: str) -> str:
    """Return the text with composed characters, of normal width, with plain quotes and dashes.

    Compatibility forms that represent their parts (ligatures, no-break spaces) become these;
    superscripts, subscripts, fractions and circled digits stay.

    >>> fold("ＡＢＣ１２３ ‘ﬁ’ − 10²"), fold("e\u0301") == "é"
    ("ABC123 'fi' - 10²", True)
    """
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFC", text).translate(_FOLDED)
    return unicodedata.normalize("NFC", folded)


_FENCE = "```"
_FENCE_LINE = re.compile(r"```[A-Za-z]{0,20}")
# The language of a fence; without one, the answer may follow the marks at once.
_LANGUAGE = re.compile(
    r"[ \t]*(?:(?:json|html|latex|tex|xml|markdown|md|smiles|text|txt)\b)?", re.I
)


def unfenced(text: str) -> str:
    """Return the contents of all code fences in a text, or the whole text without one.

    Languages are ignored. A fence that is never closed holds everything after it.

    >>> unfenced('So: ```JSON {"total": 1}``` Done.').strip(), unfenced("```\\nx^2").strip()
    ('{"total": 1}', 'x^2')
    """
    if _FENCE not in text:
        return text
    parts = text.split(_FENCE)[1::2]
    return "\n".join(part[_language_end(part) :] for part in parts)


def _language_end(part: str) -> int:
    match = _LANGUAGE.match(part)
    return match.end() if match else 0


# --- pages -------------------------------------------------------------------------------------
# LaTeX: commands with arguments that are not text, then all other commands, and the marks of tables
# and groups. An escaped mark is text.
_ARGUMENTS = re.compile(
    r"\\(?:(?:begin|end)\s?\{(?:tabular[xy*]?|longtable|array)\}(?:\s?\[[^\[\]]*\])?(?:\s?\{(?:[^{}]|\{[^{}]*\})*\})?"
    r"|(?:begin|end|vspace|hspace|cline|label|pagestyle|usepackage|documentclass|geometry|fontsize"
    r"|multicolumn\s?\{\d+\}|multirow\s?\{\d+\}|cmidrule|rule\s?\{[^{}]*\}|setlength\s?\{[^{}]*\}|textcolor|color)"
    r"\*?(?:\s?\([^()]*\))?(?:\s?\[[^\[\]]*\])?\s?\{[^{}]*\})"
)
_ROW_END = re.compile(r"\\\\(?:\[[^\[\]]*\])?")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?|\\[,;:! ()\[\]]")
_ESCAPED = re.compile(r"\\([%&#_${}|*~^])")
_KEPT_MARKS = {mark: chr(0xE000 + number) for number, mark in enumerate("%&#_${}|*~^")}
_MARKS_BACK = str.maketrans({code: mark for mark, code in _KEPT_MARKS.items()})
# Markdown: targets of links, and rules.
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_LINES = re.compile(r"(?<![^| ])(?::-+:?|-+:|[-=_]{3,}|(?<=\|)--?(?=\|))(?![^| ])|-{4,}|={4,}")
_MARKUP = str.maketrans(dict.fromkeys("|#*_`~\\{}&", " "))
# Spaces that a table's cells or its reader put around marks.
_LOOSE_SPACE = re.compile(r"(?<=[$€£¥(\[]) | (?=[)\]%.,;:])")


def plain_text(visible: str) -> str:
    r"""Return the visible text of a page without the markup of Markdown and LaTeX.

    Pipes, rules, headings, bold, links, fences, LaTeX commands, `&` and row ends are removed, and
    with them these marks in any text, so that gold and prediction must both be read this way.

    >>> plain_text("## Net **sales** | $ 1,200 | ( 3 % )")
    'Net sales $1,200 (3%)'
    >>> plain_text(r"\begin{tabular}{lr} \textbf{Net sales} & \$1,200 \\ \hline \end{tabular}")
    'Net sales $1,200'
    """
    text = unescape(visible) if "&" in visible else visible
    if "\\" in text:
        text = _ESCAPED.sub(lambda escaped: _KEPT_MARKS[escaped[1]], text)
        text = _COMMAND.sub(" ", _ARGUMENTS.sub(" ", _ROW_END.sub(" ", text)))
        text = text.translate(_MARKS_BACK)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    text = _FENCE_LINE.sub(" ", text) if _FENCE in text else text
    text = _LINES.sub(" ", fold(text)).translate(_MARKUP)
    return _LOOSE_SPACE.sub("", " ".join(text.split()))


# --- the answers of CC-OCR ---------------------------------------------------------------------
_WHITE = re.compile(r"\s+")


def document_source(text: str) -> str:
    r"""Return a page in LaTeX without the commands of its preamble, fence and white space.

    >>> document_source("```latex\n\\documentclass{article}\r\n\\begin{document} Net loss\n```")
    'Netloss'
    """
    return _WHITE.sub("", fold(without_preamble(unfenced(text))))


# Spaces and sizes, which change only how a formula is set.
_SETTING = re.compile(
    r"\\(?:[,;:!> ]|(?:quad|qquad|displaystyle|textstyle|left|right|[bB]igg?[lr]?)(?![A-Za-z]))"
)
_SHORT_FRACTION = re.compile(r"\\[dt]frac(?![A-Za-z])")
_SINGLE = re.compile(r"(?<=[\^_])\{(\\[A-Za-z]+|[^{}\\])\}")
_DISPLAY = re.compile(r"(?<!\\)(?:\$+|\\[\[\]()])")


def formula_source(text: str) -> str:
    r"""Return a formula in LaTeX without what only sets it: the marks around it, spaces, sizes of
    brackets, braces around a single character.

    >>> formula_source(r"$$ \left( x^{2} \right)\, $$"), formula_source(r"\[(x^2)\]")
    ('(x^2)', '(x^2)')
    """
    text = _SETTING.sub("", _DISPLAY.sub("", fold(unfenced(text))))
    return _SINGLE.sub(r"\1", _WHITE.sub("", _SHORT_FRACTION.sub(r"\\frac", text)))


_SMILES = re.compile(r"</?smiles>", re.IGNORECASE)


def molecule_source(text: str) -> str:
    """Return a molecule in SMILES without tags, fence and white space.

    >>> molecule_source("<SMILES>CC(=O)O</SMILES>")
    'CC(=O)O'
    """
    return _WHITE.sub("", fold(_SMILES.sub("", unfenced(text))))


_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}(?=[ \t])", re.MULTILINE)


def reading_source(text: str) -> str:
    """Return the text of an image without fences, headings and bold of Markdown, and entities.

    >>> reading_source("## **Net&nbsp;loss**")
    ' Net loss'
    """
    text = _FENCE_LINE.sub("", fold(unescape(text) if "&" in text else text))
    return _HEADING.sub("", text).replace("**", "")
