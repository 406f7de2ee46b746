"""A page as the judge sees it: what is displayed and how it is laid out, nothing else.

Attributes, styles, comments and scripts are most of a filing's bytes, and places where words for a
judge can hide that no reader sees.
"""

import re
from collections.abc import Iterator, Sequence

from portal.facts.markup import Kind, Token, tokens
from portal.facts.page_text import HIDDEN_NESTING, HIDDEN_RAW
from portal.facts.spans import KNOWN_LABELS

# Characters of one side, about 100,000 tokens of a table of digits. What a prediction has beyond
# them is not judged, and facts that stand there are not found.
LONGEST_PAGE = 300_000
_SPAN = re.compile(r"""\s((?:col|row)span)\s*=\s*["']?(\d{1,4})""", re.IGNORECASE)
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")


def shown_page(html: str, labels: Sequence[str] = KNOWN_LABELS) -> str:
    """The page without fact tags and whatever is not displayed; of attributes, the spans of cells
    stay. A string without both `<` and `>` is text already. Never raises, linear time.

    >>> shown_page('<p class="x">Net <Number>(1,200)</Number><!-- ok --><script>1</script></p>')
    '<p>Net (1,200)</p>'
    """
    if "<" in html and ">" in html:
        unwrapped = {label.lower() for label in (*KNOWN_LABELS, *labels)}
        html = "".join(_pieces(html, unwrapped))
    return _LINES.sub("\n", _SPACES.sub(" ", html)).strip()[:LONGEST_PAGE]


def _pieces(html: str, unwrapped: set[str]) -> Iterator[str]:
    hidden: list[str] = []
    for token in tokens(html):
        if token.name in HIDDEN_NESTING:
            _hide(hidden, token)
        elif hidden or token.name in unwrapped or token.name in HIDDEN_RAW:
            continue
        elif token.kind is Kind.START:
            yield _start_tag(html[token.start : token.end], token.name)
        elif token.kind is Kind.END:
            yield f"</{token.name}>"
        elif token.kind in {Kind.TEXT, Kind.RAW} or token.name:
            yield html[token.start : token.end]


def _hide(hidden: list[str], token: Token) -> None:
    if token.kind is Kind.START:
        hidden.append(token.name)
    elif token.name in hidden:
        # What was left open inside ends together with the element around it.
        while hidden.pop() != token.name:
            pass


def _start_tag(tag: str, name: str) -> str:
    spans = "".join(f" {key.lower()}={number}" for key, number in _SPAN.findall(tag))
    return f"<{name}{spans}>"
