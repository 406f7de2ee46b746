"""From a double click or sloppy selection to the fact that is meant."""

import pytest
from hypothesis import strategies as st

from portal.facts import find_facts, snap
from tests.facts.test_finding import bordered_texts
from tests.many import drawn, together


def _snapped(marked: str, *, borders: tuple[int, ...] = ()) -> str:
    """Snap the selection between two bars, or at one bar."""
    before, selected, *after = marked.split("|")
    text = before + selected + "".join(after)
    end = len(before) + (len(selected) if after else 0)
    start, end = snap(text, borders, find_facts(text, borders), len(before), end)
    return text[start:end]


@together(
    "marked meant",
    [
        # Double clicks: at the edges too, and in what is no fact.
        ("Net (1,2|00) in all", "(1,200)"),
        ("Net |(1,200) in all", "(1,200)"),
        ("Net (1,200)| in all", "(1,200)"),
        ("on March| 24, 2025 in", "March 24, 2025"),
        ("$|25.63%", "25.63%"),
        ("see Section 3|0(h) of", "30(h)"),
        ("see Sec|tion 30(h) of", "Section"),
        ("Form 10|-K of", "10-K"),
        ("was $ |— in", "—"),
        ("a  |  b", ""),
        ("|", ""),
        # One fact, not wholly or not only.
        ("Net (|1,200|) in", "(1,200)"),
        ("Net| (1,200) |in", "(1,200)"),
        ("was |$1,2|00.", "1,200"),
        ("on |March |24, 2025", "March 24, 2025"),
        ("on March| |24, 2025", "March 24, 2025"),
        ("Q|2 2025| saw", "Q2 2025"),
        # The fact that is selected most.
        ("$1,|200 (5|00)", "1,200"),
        ("$1,20|0 (500|)", "(500)"),
        # Several facts, or words: what was selected, with nothing cut.
        ("rose |5 to 10 |times", "5 to 10"),
        ("rose 1,0|00 to 2,000 to 3,0|00", "1,000 to 2,000 to 3,000"),
        ("Net o|perating los|s (1,200)", "operating loss"),
        ("Net |loss of 1,2|00 in", "loss of 1,200"),
        ("see |Section 30(|h) of", "Section 30(h)"),
        ("was | $ |in", "$"),
    ],
)
def test_snap_gives_what_is_meant(marked: str, meant: str) -> None:
    assert _snapped(marked) == meant


@pytest.mark.parametrize(
    ("marked", "borders", "meant"),
    [
        ("1,5|861,702", (5,), "1,586"),
        ("1,586|1,702", (5,), "1,702"),
        ("1,5861|,7|02", (5,), "1,702"),
        ("|1,586|1,702", (5,), "1,586"),
        ("(1,2|00)(3)", (6, 7), "(1,200)"),
        ("Tot|alNet", (5,), "Total"),
        ("T|ota|lNet", (5,), "Total"),
        ("Total$|—|Net", (5, 7), "—"),
    ],
)
def test_snap_never_takes_from_the_next_cell(
    marked: str, borders: tuple[int, ...], meant: str
) -> None:
    assert _snapped(marked, borders=borders) == meant


def test_snap_moves_offsets_into_the_text() -> None:
    assert snap("a 12", (), find_facts("a 12"), 99, -5) == (0, 4)


@drawn(bordered_texts(), st.data(), examples=400)
def test_snap_covers_whole_facts_and_changes_nothing_twice(
    bordered: tuple[str, tuple[int, ...]], data: st.DataObject
) -> None:
    text, borders = bordered
    facts = find_facts(text, borders)
    offsets = st.integers(0, len(text))
    first, last = sorted((data.draw(offsets), data.draw(offsets)))
    start, end = snap(text, borders, facts, first, last)
    assert 0 <= start <= end <= len(text)
    assert snap(text, borders, facts, start, end) == (start, end)
    assert text[start:end] == text[start:end].strip()
    for fact in facts:
        cut = fact.start < end and start < fact.end
        assert not cut or (start <= fact.start and fact.end <= end)
    touched = [fact for fact in facts if fact.start < last and first < fact.end]
    if len(touched) == 1 and first >= touched[0].start and last <= touched[0].end:
        assert (start, end) == touched[0][:2]
