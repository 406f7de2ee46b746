"""The browser and the server snap selections in the same way."""

import json
import random
import subprocess
from typing import Any

import pytest
from django.conf import settings
from playwright._impl._driver import compute_driver_executable

from portal.facts import canonicalise, find_facts, snap, text_borders
from tests.shared import REALDATA, needs_realdata

CASES = settings.BASE_DIR / "tests" / "js" / "snap_cases.mjs"

PAGES = [
    "<p>Net loss (1,200) in 2024 &amp; 𝟚𝟛 €5.5% of Müller\u0301s 10-K.</p>",
    "<table><tr><td>Sales</td><td>1,586</td><td>(1,702</td><td>)</td><td>12</td><td>%</td></tr>"
    "<tr><td><table><tr><td>7</td><td>8</td></tr></table></td><td>June 30,<br>2025</td></tr>"
    "</table>",
    "<pre>  Total   1,200-  \n  1990    45 CR\n\t(3)  Section 501(c)(3)</pre>",
    "<p>1<sup>2</sup> of $ 3 million\u00a0— 😀 ($4,000) and March 31, 2025 to June 1, 2026.</p>",
]


def snapped_in_javascript(pages: list[dict[str, Any]]) -> list[list[list[int] | None]]:
    node = compute_driver_executable()[0]
    done = subprocess.run(
        [node, str(CASES)], input=json.dumps(pages), capture_output=True, text=True, check=True
    )
    answers: list[list[list[int] | None]] = json.loads(done.stdout)
    return answers


def assert_twins(htmls: list[str], selections: int) -> None:
    chance = random.Random(5)
    pages: list[dict[str, Any]] = []
    expected = []
    for html in htmls:
        canonical = canonicalise(html)
        text, borders = canonical.text, text_borders(canonical.html)
        facts = find_facts(text, borders)
        chosen = []
        for _ in range(selections):
            start = chance.randrange(len(text) + 1)
            chosen.append((start, min(len(text), start + chance.choice((0, 0, 1, 2, 5, 9, 30)))))
        pages.append(
            {
                "text": text,
                "borders": list(borders),
                "facts": [[fact.start, fact.end] for fact in facts],
                "selections": chosen,
            }
        )
        ranges = [snap(text, borders, facts, *selection) for selection in chosen]
        expected.append([[start, end] if start < end else None for start, end in ranges])
    for page, ours, theirs in zip(pages, snapped_in_javascript(pages), expected, strict=True):
        for selection, one, other in zip(page["selections"], ours, theirs, strict=True):
            assert one == other, (page["text"][slice(*selection)], one, other)


def test_selections_of_awkward_pages_snap_alike() -> None:
    assert_twins(PAGES, 400)


@needs_realdata
@pytest.mark.parametrize("form", ["10k", "10q", "irs"])
def test_selections_of_real_pages_snap_alike(form: str) -> None:
    pages = sorted((REALDATA / "pages").glob(f"*{form}*.html"))[:12]
    assert pages
    assert_twins([page.read_text(encoding="utf-8") for page in pages], 300)
