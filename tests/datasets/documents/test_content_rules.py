import pytest

from portal.datasets.documents.content_rules import CONTENTS, find_content, missing_content
from portal.facts import canonicalise

TABLE = (
    "<table><tr><td></td><td>2024</td><td>2023</td></tr>"
    "<tr><td>Net sales (1)</td><td>$</td><td>1,200</td><td>(300</td><td>)</td></tr>"
    "<tr><td>Cost</td><td>45.5</td><td>—</td></tr></table>"
)


def content(html: str) -> set[str]:
    return set(find_content(canonicalise(html).html))


@pytest.mark.parametrize(
    ("html", "numeric"),
    [
        (TABLE, True),
        # Years and dashes are not numbers, and one row is not a table.
        (
            "<table><tr><td>2024</td><td>2023</td></tr><tr><td>2022</td><td>—</td></tr></table>",
            False,
        ),
        ("<table><tr><td>1</td><td>2</td><td>3</td></tr></table>", False),
        ("<table><tr><td>1</td><td>2</td></tr><tr><td>x</td></tr></table>", False),
        # Amounts in the text of a short cell count.
        (
            "<table><tr><td>Chair</td><td>$20,000 a year</td></tr>"
            "<tr><td>GAAP: $2.65 to $2.70</td><td>~21.5%</td></tr></table>",
            True,
        ),
        # A layout table does not get the numbers of the table in it.
        (f"<table><tr><td>{TABLE}</td></tr></table>", True),
        (
            "<table><tr><td>1</td><td><table><tr><td>2</td></tr></table></td></tr>"
            "<tr><td>3</td></tr></table>",
            False,
        ),
        (f"<table><tr><td>{'Words and $5. ' * 20}</td></tr></table>" * 3, False),
        # Plain text in columns.
        ("<pre>Net sales      $ 1,200    300\nCost of sales      45.5\n</pre>", True),
        ("<pre>Net sales of $1,200, 300 and 45.5\nCost of sales\n</pre>", False),
        ("<p>1,200 and 300 and 45.5</p>", False),
    ],
)
def test_numeric_table(html: str, numeric: bool) -> None:
    assert ("numeric_table" in content(html)) is numeric


@pytest.mark.parametrize(
    ("html", "has_note"),
    [
        (TABLE + "<p>(1) Includes services.</p>", True),
        (TABLE + "<p>(2) Includes services.</p>", False),
        # Minus 1, and the name of the next row.
        (TABLE + "<table><tr><td>(1)</td></tr><tr><td>Net income</td></tr></table>", False),
        # Clauses of a contract, without a table.
        ("<p>(a) The Company</p><p>as told in Section 3(a)</p>", False),
        ("<p>Net sales* rose.</p><p>* Unaudited.</p>", True),
        ("<p>Net sales* rose.</p><p>† Unaudited.</p>", False),
        ("<p>Sales<sup>1</sup> rose.</p><p><sup>1</sup> Unaudited.</p>", True),
        ("<p>Sales 1,200<sup>(1)</sup> rose.</p><p><sup>(1)</sup> Unaudited.</p>", True),
        ("<p>On the 4<sup>th</sup> day.</p><p><sup>th</sup> Day</p>", False),
        ("<p>10<sup>2</sup> and 10<sup>2</sup></p>", False),
        ("<p>See accompanying notes to consolidated financial statements.</p>", True),
        ("<p>as described in Note 4</p>", True),
        ("<p>Please note that sales rose.</p>", False),
    ],
)
def test_footnote(html: str, has_note: bool) -> None:
    assert ("footnote" in content(html)) is has_note


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("as of March 24, 2025", True),
        ("in Q2 2025", True),
        ("fiscal 2024", True),
        ("June 30", True),
        ("within 30 days", False),
        ("sales of 1,200", False),
    ],
)
def test_dated_reference(text: str, dated: bool) -> None:
    assert ("dated_reference" in content(f"<p>Sales {text}.</p>")) is dated


def test_missing_content_keeps_the_order_asked_for() -> None:
    html = canonicalise("<p>as of March 24, 2025</p>").html
    assert missing_content(html, CONTENTS) == ["numeric_table", "footnote"]
    assert missing_content(html, ["dated_reference"]) == []
