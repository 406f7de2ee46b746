"""Hypothesis strategies: pages and spans as awkward as filings, and markup that is merely soup."""

from hypothesis import strategies as st

from portal.facts import Span, is_blank

# Text of HTML source: entities, astral and combining characters, kinds of white space.
TEXTS = st.sampled_from(
    [
        "1,200",
        "(3,627)",
        "$",
        " ",
        "\n",
        "\n\n  ",
        "&amp;",
        "&nbsp;",
        "&lt;b&gt;",
        "\u00a0",
        "\u200b",
        "\U0001f4b6",
        "\U00010348x",
        "e\u0301",
        "May&nbsp;27, 2021",
        "AT&T",
        "a < b",
        "&#8212;",
        "&#146;",
        "]]>",
    ]
) | st.text(max_size=6)

BLOCKS = st.sampled_from(["p", "div", "pre", "h2", "blockquote", "center", "li", "dd"])
INLINES = st.sampled_from(["b", "i", "span", "font", "u", "sup", "ix:nonFraction", "a"])


def _element(name: str, children: list[str]) -> str:
    return f'<{name} style="color:red">{"".join(children)}</{name}>'


def _table(rows: list[list[str]]) -> str:
    body = "\n ".join("<tr>\n  " + " ".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table>\n {body}\n</table>"


def _wider(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(children, max_size=4)
    return st.one_of(
        st.builds(_element, BLOCKS, several),
        st.builds(_element, INLINES, several),
        st.builds(_table, st.lists(st.lists(children, min_size=1, max_size=3), max_size=3)),
        several.map("".join),
    )


PAGES = st.recursive(TEXTS, _wider, max_leaves=12)

# Tags open, closed, quoted and cut off in any order.
_SCRAPS = """
<p> </p> <div> </div> <table> </table> <tr> <td> </td> <th> <caption> <colgroup> <col>
<b> </b> <a> </a> <font </font> <pre> </pre> <select> <option> <title> </title> <textarea>
</textarea> <svg> </svg> <math> <template> </template> <noscript> </noscript> <plaintext>
<xmp> </xmp> <frameset> <frame> <script> </script> <style> </style> <iframe> <!-- --> <!x>
<?xml <![CDATA[ ]]> </> </ < > " ' = / <br/> <td/> <hr <img <input <body> </body> <html>
<ix:header> </ix:header> <TEXT> <Number> </Number> <date> </date> <Number/> id="f1"> &amp &#0;
&#xD800; &#13;
"""
SOUP = st.lists(st.sampled_from([*_SCRAPS.split(), "<DOCUMENT>\n<TYPE>"]) | TEXTS, max_size=25).map(
    "".join
)

ANY_STRING = st.text() | SOUP | st.text(alphabet=st.characters())


@st.composite
def spans_over(draw: st.DrawFn, text: str, labels: tuple[str, ...]) -> list[Span]:
    """Disjoint spans over a text, each with something to read."""
    offsets = st.integers(0, len(text))
    cuts = sorted(draw(st.sets(offsets, max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return [
        Span(start, end, draw(st.sampled_from(labels)))
        for start, end in pairs
        if not is_blank(text[start:end])
    ]
