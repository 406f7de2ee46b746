import subprocess
import sys
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.datasets.curation import near_duplicates as duplicates
from portal.datasets.curation.near_duplicates import (
    Duplicate,
    DuplicateSearch,
    bands,
    near_duplicates,
    similarity,
)

WORDS = [first + last for first in "bcdfghjklm" for last in ("al", "en", "ir", "or", "us")]


def prose(seed: int, count: int = 200) -> list[str]:
    """Random words: two seeds share hardly any sequence."""
    lot = Random(seed)
    return [f"{lot.choice(WORDS)}{lot.choice(WORDS)}" for _ in range(count)]


def search(texts: dict[str, str], threshold: float = 0.95) -> DuplicateSearch:
    return near_duplicates(texts, texts.__getitem__, threshold=threshold)


def test_similarity_by_hand() -> None:
    # Four words each, three of them in common: 2 * 3 / 8.
    assert similarity("Net sales rose again", "net SALES fell again") == 6 / 8
    # Two words and one number of weight 5: 2 * 2 / 14; the words alone are the same.
    assert similarity("Net sales 1,200", "Net sales 1,300") == 4 / 14
    # One more word: 2 * 7 / 15.
    assert similarity("Net sales 1,200", "All net sales: $(1,200)") == 14 / 15
    assert similarity("", "...") == 1


def test_statement_of_another_quarter_is_no_duplicate() -> None:
    """The same 200 words; 20 of 20 numbers differ."""
    words = prose(1)
    first, second = (
        " ".join(
            f"{word} {quarter}{at:03}" if at % 10 == 0 else word for at, word in enumerate(words)
        )
        for quarter in (1, 2)
    )
    # 200 of 300, as a number counts five times: (2 * 200) / 600.
    assert similarity(first, second) == pytest.approx(2 / 3)
    assert search({"q1": first, "q2": second}).pairs == []


def test_page_with_another_page_number_is_a_duplicate() -> None:
    words = " ".join(prose(1))
    found = search({"a": f"{words} 17", "b": f"{words} 18", "c": " ".join(prose(2))})
    assert found.pairs == [Duplicate("a", "b", 2 * 200 / 410)]
    assert found.compared == 1


def test_pairs_are_in_the_order_of_the_keys() -> None:
    words = prose(3)
    texts = {"z": " ".join(words), "a": " ".join([*words[:100], "other", *words[101:]])}
    assert [pair[:2] for pair in search(texts).pairs] == [("z", "a")]


def test_the_same_words_are_paired_with_the_first_alone() -> None:
    text = " ".join(prose(4))
    texts = {f"d{number}": text.upper() if number % 2 else f"({text})" for number in range(5)}
    found = search(texts)
    assert found.pairs == [Duplicate("d0", f"d{number}", 1.0) for number in range(1, 5)]
    assert found.compared == 0


def test_texts_without_words_are_listed() -> None:
    found = search({"a": "— — —", "b": "", "c": "Total"})
    assert (found.without_words, found.pairs) == (["a", "b"], [])


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must be 0\.9 to 1, not 0\.5"):
        search({}, threshold=0.5)
    with pytest.raises(ValueError, match="the key a is repeated"):
        near_duplicates(["a", "a"], lambda _key: "text")


def test_progress_is_reported_after_every_text() -> None:
    done: list[int] = []
    near_duplicates("abc", str, each=done.append)
    assert done == [1, 2, 3]


@pytest.mark.parametrize("threshold", [0.9, 0.95, 0.98, 1])
def test_bands_find_a_pair_at_the_threshold(threshold: float) -> None:
    buckets, values = bands(threshold)
    # 100(1 - t) of 100 tokens are replaced; each changes two sequences of two.
    changed = 3 * (1 - threshold)
    shared = (1 - changed) / (1 + changed)
    assert buckets * values <= duplicates.PERMUTATIONS
    assert 1 - (1 - shared**values) ** buckets >= 0.99
    more = values + 1
    assert threshold == 1 or (1 - (1 - shared**more) ** (duplicates.PERMUTATIONS // more) < 0.99)


@given(st.lists(st.tuples(st.integers(0, 199), st.sampled_from(WORDS)), max_size=9))
def test_few_changed_words_are_always_found(changes: list[tuple[int, str]]) -> None:
    """The seed is fixed, so the result is always the same."""
    words = prose(5)
    changed = list(words)
    for at, word in changes:
        changed[at] = word
    found = search({"a": " ".join(words), "b": " ".join(changed), "c": " ".join(prose(6))})
    assert [pair[:2] for pair in found.pairs] == [("a", "b")]


def test_work_does_not_grow_with_all_pairs() -> None:
    """1,000 texts, every tenth similar to the one before: 100 comparisons instead of 499,500."""
    texts: dict[str, str] = {}
    for number in range(1000):
        words = prose(number - (number % 10 == 9), 60)
        words[30] = words[30] if number % 10 != 9 else "exchanged"
        texts[f"{number:04}"] = " ".join(words)
    found = search(texts)
    assert [(int(pair.first), int(pair.second)) for pair in found.pairs] == [
        (number - 1, number) for number in range(9, 1000, 10)
    ]
    assert found.compared <= 110
    assert found.passed_over == 0


def test_candidates_of_one_text_are_bounded_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "MAX_CANDIDATES", 3)
    words = prose(7)
    texts = {f"d{number}": " ".join([*words, f"w{'x' * number}"]) for number in range(1, 7)}
    found = search(texts)
    # 0 + 1 + 2 + 3 + 3 + 3 compared of 0 + 1 + 2 + 3 + 4 + 5.
    assert (found.compared, found.passed_over) == (12, 3)
    assert len(found.pairs) == 12


def test_other_modules_load_no_numerical_library() -> None:
    modules = [
        "portal.datasets.acceptance.audits",
        "portal.datasets.acceptance.audits",
        "portal.datasets.documents.content_rules",
        "portal.datasets.curation.draws",
        "portal.datasets.curation.pii",
        "portal.datasets.curation.pii",
        "portal.datasets.acceptance.records",
        "portal.datasets.documents.statistics",
        "portal.datasets.documents.statistics",
        "portal.datasets.curation.draws",
    ]
    code = (
        "import sys\n"
        + "".join(f"import {module}\n" for module in modules)
        + "print(*{'numpy', 'rensa', 'rapidfuzz', 'django'} & set(sys.modules))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == ""
