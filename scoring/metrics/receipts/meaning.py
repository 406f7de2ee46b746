"""Whether two texts of a receipt mean the same, without a judge.

Their dates, times, numbers and identifiers are equal by value (`facts`), and so are their words:
articles, legal forms and known abbreviations aside, a word may be misspelt where this makes no
other word of it. Places are stricter than names: `Suzhou` and `Fuzhou` differ in one letter, too.
Source: ReceiptBench, section 3.4 C and table 8.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from unicodedata import category

from rapidfuzz.distance import OSA, Levenshtein

from .facts import Fact, are_same, split_facts

_TABLE = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
_LISTS = {name: frozenset(words.split()) for name, words in _TABLE["lists"].items()}
_ARTICLES, _LEGAL_FORMS = _LISTS["articles"], _LISTS["legal_forms"]
_GENERIC, _TELLING = _LISTS["generic"], _LISTS["telling"]
_TELLING_CHARACTERS = frozenset(_TABLE["lists"]["telling_characters"])
_ABBREVIATIONS: dict[str, str] = _TABLE["abbreviations"]
_PHRASES: dict[str, str] = _TABLE["phrases"]
_PHRASE = re.compile(rf"\b(?:{'|'.join(sorted(_PHRASES, key=len, reverse=True))})\b")

# A fact among the words, and as long as a date in the text that is compared.
_FACT = "\x00"
_FACT_SHOWN = "#" * 10
SIMILAR = 0.75
# Characters of the longer word in which one may be missing, added or swapped, and of the shorter
# one in which any may be wrong.
_MISSPELT, _MISREAD = 5, 8
_DOUBLED = re.compile(r"(.)\1")
_IDEOGRAPHS_PER_EDIT = 8
_MOST_OTHER_WORDS = 20
_SHORT_WORD = 2

_DOTTED = re.compile(r"(?<![^\W_])([^\W_])\.(?=[^\W_](?![^\W_]))")
_IDEOGRAPH = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
# Written without a space before or after the name.
_JOINED_LEGAL_FORM = re.compile(
    "|".join(
        sorted(filter(re.compile("[^ -~]{2,}").fullmatch, _LEGAL_FORMS), key=len, reverse=True)
    )
)
_ROMAN = re.compile("[ivxlcdm]+")


class Meaning(NamedTuple):
    """The facts of a text and its words, among which "\\x00" is a fact."""

    facts: tuple[Fact, ...]
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """The words as one text, to be compared by Levenshtein similarity."""
        return " ".join(self.words).replace(_FACT, _FACT_SHOWN)


def meaning_of(text: str, *, is_place: bool = False) -> Meaning:
    r"""Return the meaning of a text.

    >>> meaning_of("The Grand Hotel, Ltd.").words, meaning_of("Gate B, 5 May").words
    (('grand', 'hotel'), ('gate', 'b', '\x00'))
    """
    facts, rest = split_facts(text)
    rest = _DOTTED.sub(r"\1", rest.replace("'", "").replace("&", " and "))
    plain = "".join(c if c == _FACT or category(c)[0] in "LMNC" else " " for c in rest)
    if not is_place:
        plain = _JOINED_LEGAL_FORM.sub(" ", plain) if _IDEOGRAPH.search(plain) else plain
    spaced = " ".join(plain.replace(_FACT, f" {_FACT} ").split())
    words = _PHRASE.sub(lambda match: _PHRASES[match[0]], spaced).split()
    words = [_ABBREVIATIONS.get(word, word) for word in words]
    if not is_place:
        words = _without_legal_forms(words)
    kept = [a for a, b in pairwise(words) if a not in _ARTICLES or b == _FACT]
    return Meaning(tuple(facts), (*kept, *words[-1:]))


def _without_legal_forms(words: Sequence[str]) -> list[str]:
    kept = [word for word in words if word not in _LEGAL_FORMS] or [*words]
    return kept[:-1] if len(kept) > 1 and kept[-1] == "and" else kept


def same_meaning(first: Meaning, second: Meaning, *, is_place: bool = False) -> bool:
    """Whether two texts have equal facts and the same words. A text without any means nothing.

    >>> def same(a, b, is_place): return same_meaning(
    ...     meaning_of(a, is_place=is_place), meaning_of(b, is_place=is_place), is_place=is_place)
    >>> same("Grand Hotel Co.", "The Grand Hotl Company", False), same("Gate A", "Gate B", True)
    (True, False)
    >>> same("China-Suzhou", "China-Fuzhou", True), same("Lyon, France", "France-Lyon", True)
    (False, True)
    """
    if not (first.words and second.words and are_same(first.facts, second.facts)):
        return False
    if "".join(first.words) == "".join(second.words):
        return True
    ours, theirs = Counter(first.words), Counter(second.words)
    missing, added = [*(ours - theirs).elements()], [*(theirs - ours).elements()]
    if len(missing) + len(added) > _MOST_OTHER_WORDS:
        return False
    if _is_reordered(first.words, second.words) and _tells((*first.words, *second.words)):
        return False
    pairs = list(_pairs(missing, added, is_place=is_place))
    missing_alone = Counter(missing) - Counter(ours for ours, _ in pairs)
    added_alone = Counter(added) - Counter(theirs for _, theirs in pairs)
    if missing_alone and added_alone:
        return False
    return all(_says_little(word, is_place=is_place) for word in missing_alone + added_alone)


def _is_reordered(first: Sequence[str], second: Sequence[str]) -> bool:
    shared = Counter(first) & Counter(second)
    return [word for word in first if word in shared] != [word for word in second if word in shared]


def _tells(words: Sequence[str]) -> bool:
    """Whether the place of a word matters: `Gate A, Hall B` is not `Gate B, Hall A`."""
    return any(len(word) <= _SHORT_WORD or word in _TELLING for word in words)


def _pairs(
    missing: Sequence[str], added: Sequence[str], *, is_place: bool
) -> Iterator[tuple[str, str]]:
    """Yield pairs of words of which one is a misspelling of the other."""
    free = list(added)
    for word in missing:
        other = next((each for each in free if _is_misspelt(word, each, is_place=is_place)), None)
        if other is not None:
            free.remove(other)
            yield word, other


def _is_misspelt(first: str, second: str, *, is_place: bool) -> bool:
    if _IDEOGRAPH.search(first + second):
        return not is_place and _is_misread(first, second)
    short, long = sorted((len(first), len(second)))
    if first[0] != second[0] or long < _MISSPELT or {first, second} & _TELLING:
        return False
    if _ROMAN.fullmatch(first) and _ROMAN.fullmatch(second):
        return False
    if OSA.distance(first, second) == 1:
        is_turned = Levenshtein.distance(first, second) > 1
        if is_place:
            # One letter more is another place: Charleston, Charlestown.
            return is_turned or _DOUBLED.sub(r"\1", first) == _DOUBLED.sub(r"\1", second)
        return is_turned or short < long or short >= _MISREAD
    is_alike = Levenshtein.normalized_similarity(first, second) >= SIMILAR
    return is_alike and short >= _MISREAD and not is_place


def _is_misread(first: str, second: str) -> bool:
    """Whether two long words without spaces differ in few characters, and those are not
    _TELLING_CHARACTERS."""
    edits = Levenshtein.editops(first, second)
    if len(edits) * _IDEOGRAPHS_PER_EDIT > min(len(first), len(second)):
        return False
    changed = {first[e.src_pos] for e in edits if e.tag != "insert"}
    changed |= {second[e.dest_pos] for e in edits if e.tag != "delete"}
    return not changed & _TELLING_CHARACTERS


def _says_little(word: str, *, is_place: bool) -> bool:
    """Whether a text means the same without this word, if it is a small part of it."""
    if is_place:
        return word in _GENERIC or word in _ARTICLES
    return len(word) > 1 and word not in _TELLING and not _ROMAN.fullmatch(word)
