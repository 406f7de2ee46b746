"""The visible text of an HTML page: what text metrics are computed on."""

from collections.abc import Iterator, Sequence
from html import unescape

from portal.facts.labels import KNOWN_LABELS
from portal.facts.markup import Kind, Token, tokens

# Elements dropped together with their content; that of the first three is not markup.
HIDDEN_RAW = frozenset({"script", "style", "iframe"})
HIDDEN_NESTING = frozenset({"noscript", "template"})


def visible_text(html: str, labels: Sequence[str] = KNOWN_LABELS) -> str:
    """The text of `html` as a reader sees it, on one line.

    Markup is dropped, together with the content of script, style, noscript, template and iframe.
    Fact tags named by one of `labels` (in any case) are unwrapped first, so that they split no
    text node. Each text node is trimmed, empty ones are dropped, the rest is joined by one space;
    entities are decoded and white space is collapsed. A string that does not hold both `<` and `>`
    is text already: only its white space is collapsed.

    Any string is accepted, nothing is raised, and the time is linear. Source: FinCriticalED, text
    metrics.

    >>> visible_text("<p>Net <b>loss</b>&nbsp;of<br>$ <Number>(1,2</Number>00)</p>")
    'Net loss of $ (1,200)'
    >>> visible_text("1 < 2 &amp; 3")
    '1 < 2 &amp; 3'
    """
    if "<" not in html or ">" not in html:
        return " ".join(html.split())
    names = frozenset(label.lower() for label in labels)
    return " ".join(word for node in _text_nodes(html, names) for word in unescape(node).split())


def _text_nodes(html: str, unwrapped: frozenset[str]) -> Iterator[str]:
    """The raw text nodes outside hidden elements; tags named in `unwrapped` do not split them."""
    pieces: list[str] = []
    hidden: list[str] = []
    for token in tokens(html):
        if token.kind is Kind.TEXT or _is_shown_raw(token):
            if not hidden:
                pieces.append(html[token.start : token.end])
            continue
        if token.name in unwrapped:
            continue
        yield "".join(pieces)
        pieces.clear()
        if token.name in HIDDEN_NESTING:
            if token.kind is Kind.START:
                hidden.append(token.name)
            elif token.name in hidden:
                # What was left open inside ends together with the element around it.
                while hidden.pop() != token.name:
                    pass
    yield "".join(pieces)


def _is_shown_raw(token: Token) -> bool:
    """Whether the token is the content of a title, textarea, xmp or the like, even left open."""
    is_raw = token.kind is Kind.RAW or (token.kind is Kind.UNCLOSED and token.name != "")
    return is_raw and token.name not in HIDDEN_RAW
