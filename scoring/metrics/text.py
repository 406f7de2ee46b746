"""Text metrics: ROUGE-1, ROUGE-L and normalised edit distance of one page, and the Porter stemmer.

All functions take plain text; callers extract the text of an HTML page (`visible_text`). Source:
FinCriticalED, "General" metrics; C.-Y. Lin, ROUGE, 2004, as computed by the `rouge-score` package.

`rouge-score` stems with the default mode of NLTK's PorterStemmer: Porter's algorithm of 1980 with
the author's later amendments (`bli`, `logi`), a short list of irregular words, and a few rules of
NLTK's own. One different stem changes a ROUGE figure, so the tests compare `stem` with NLTK over a
large vocabulary. Rules are listed as (suffix, replacement); the first suffix that fits decides,
whether or not its condition holds. Source: M. F. Porter, An algorithm for suffix stripping, Program
14(3), 1980.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rapidfuzz.distance import LCSseq, Levenshtein

Rule = tuple[str, str]


def _rules(text: str) -> tuple[Rule, ...]:
    """Read rules such as `izer:ize`."""
    pairs = (rule.partition(":") for rule in text.split())
    return tuple((suffix, replacement) for suffix, _, replacement in pairs)


_IRREGULAR = dict(
    _rules(
        "skies:sky sky:sky dying:die lying:lie tying:tie news:news innings:inning inning:inning "
        "outings:outing outing:outing cannings:canning canning:canning howe:howe proceed:proceed "
        "exceed:exceed succeed:succeed"
    )
)
_STEP_2 = _rules(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e "
    "ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous "
    "aliti:al iviti:ive biliti:ble fulli:ful"
)
_STEP_3 = _rules("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_STEP_4 = ("al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize").split()

_CACHED_LENGTH = 40


def stem(word: str) -> str:
    """Return the stem of a lower-case word. Words of one or two characters are unchanged.

    >>> stem("consolidated"), stem("operating"), stem("liabilities"), stem("skies")
    ('consolid', 'oper', 'liabil', 'sky')
    """
    # Only words of ordinary length are cached, so that junk cannot fill the memory.
    return _cached_stem(word) if len(word) <= _CACHED_LENGTH else _stem(word)


def _stem(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in (_step_1a, _step_1b, _step_1c, _step_2, _step_3, _step_4, _step_5):
        word = step(word)
    return word


_cached_stem = lru_cache(maxsize=200_000)(_stem)


def _consonants(word: str) -> list[bool]:
    """Whether each character is a consonant: not a vowel, and not a `y` that follows a
    consonant."""
    kinds: list[bool] = []
    for letter in word:
        after_consonant = bool(kinds) and kinds[-1]
        kinds.append(not after_consonant if letter == "y" else letter not in "aeiou")
    return kinds


def _measure(stem: str) -> int:
    """Porter's m: how often a vowel is followed by a consonant."""
    kinds = _consonants(stem)
    return sum(1 for before, here in pairwise(kinds) if here and not before)


def _has_vowel(stem: str) -> bool:
    return not all(_consonants(stem))


def _ends_double_consonant(word: str) -> bool:
    return len(word) >= 2 and word[-1] == word[-2] and _consonants(word)[-1]


def _ends_cvc(word: str) -> bool:
    """Whether it ends with consonant, vowel, consonant (the last not w, x, y), or is only vowel and
    consonant."""
    kinds = _consonants(word)
    if len(word) == 2:
        return kinds == [False, True]
    return kinds[-3:] == [True, False, True] and word[-1] not in "wxy"


def _apply(word: str, rules: tuple[Rule, ...], holds: Callable[[str], bool]) -> str:
    """Apply the first rule whose suffix fits, if the condition holds for the rest."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            rest = word[: len(word) - len(suffix)]
            return rest + replacement if holds(rest) else word
    return word


def _step_1a(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    return _apply(word, (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")), lambda _: True)


def _step_1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word[: -len(suffix)]
        if word.endswith(suffix) and _has_vowel(rest):
            return _mend_1b(rest)
    return word


def _mend_1b(word: str) -> str:
    """Restore the dictionary ending of a stem that lost `ed` or `ing`."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_double_consonant(word):
        return word if word[-1] in "lsz" else word[:-1]
    if _measure(word) == 1 and _ends_cvc(word):
        return word + "e"
    return word


def _step_1c(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and _consonants(word)[-2]:
        return word[:-1] + "i"
    return word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2])
    if word.endswith("logi") and not word.endswith(tuple(suffix for suffix, _ in _STEP_2)):
        # The condition is on the part before `ogi`: the l belongs to it.
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _apply(word, _STEP_2, lambda rest: _measure(rest) > 0)


def _step_3(word: str) -> str:
    return _apply(word, _STEP_3, lambda rest: _measure(rest) > 0)


def _step_4(word: str) -> str:
    for suffix in _STEP_4:
        if not word.endswith(suffix):
            continue
        rest = word[: len(word) - len(suffix)]
        if suffix == "ion" and not rest.endswith(("s", "t")):
            return word
        return rest if _measure(rest) > 1 else word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_cvc(rest)):
            word = rest
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        return word[:-1]
    return word


_TOKEN = re.compile(r"[a-z0-9]+")
_STEMMED_FROM = 4


@dataclass(frozen=True)
class TextScores:
    """The three text metrics of one page, each in [0, 1]. `edit_distance`: lower is better."""

    r1: float
    rl: float
    edit_distance: float


def rouge_tokens(text: str) -> list[str]:
    """Return the tokens that ROUGE counts: runs of `[a-z0-9]` of the lower-cased text, stemmed from
    4 characters on.

    >>> rouge_tokens("Net losses, 2024: $(1,200)")
    ['net', 'loss', '2024', '1', '200']
    """
    return [
        stem(token) if len(token) >= _STEMMED_FROM else token
        for token in _TOKEN.findall(text.lower())
    ]


# Characters of scripts without spaces: Thai to Khmer, kana, ideographs, Hangul.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
)
# Superscripts and subscripts end a word: they are marks of a note.
_RAISED = "\u00b2\u00b3\u00b9\u2070-\u209c"
_WORD = re.compile(rf"[^\W_{_SPACELESS}{_RAISED}]+|[{_SPACELESS}]")


def word_tokens(text: str) -> list[str]:
    """Return the tokens of `rouge_tokens`, and those of other scripts: words, or characters where
    the script has no spaces.

    >>> word_tokens("Net sales 2024"), word_tokens("売上高1,200 Société")
    (['net', 'sale', '2024'], ['売', '上', '高', '1', '200', 'société'])
    """
    return [
        stem(token) if len(token) >= _STEMMED_FROM and token.isascii() else token
        for token in _WORD.findall(text.lower())
    ]


def rouge_1(gold: Sequence[str], prediction: Sequence[str]) -> float:
    """F-measure of the tokens that two texts share, as multisets, in [0, 1]; higher is better.

    2·overlap / (len(gold) + len(prediction)); 0 if both are empty, as in `rouge-score`.

    >>> round(rouge_1(["net", "loss", "2"], ["net", "net", "loss"]), 4)
    0.6667
    """
    shared = Counter(gold) & Counter(prediction)
    return _f_measure(shared.total(), len(gold), len(prediction))


def rouge_l(gold: Sequence[str], prediction: Sequence[str]) -> float:
    """F-measure of the longest common subsequence of tokens, in [0, 1]; higher is better.

    Computed over the whole texts, without splitting sentences; 0 if both are empty.

    >>> round(rouge_l(["net", "loss", "2"], ["2", "net", "loss"]), 4)
    0.6667
    """
    return _f_measure(LCSseq.similarity(gold, prediction), len(gold), len(prediction))


def edit_distance(gold: str, prediction: str) -> float:
    """Levenshtein distance over characters / length of the longer text, in [0, 1]; lower is better.

    The distance of two empty texts is 0, of one empty text from any other 1.

    >>> edit_distance("1,200", "1.200")
    0.2
    """
    return float(Levenshtein.normalized_distance(gold, prediction))


def text_scores(
    gold: str, prediction: str, tokens_of: Callable[[str], list[str]] = rouge_tokens
) -> TextScores:
    """R1, RL and edit distance of one page's text against its gold text."""
    gold_tokens, tokens = tokens_of(gold), tokens_of(prediction)
    return TextScores(
        r1=rouge_1(gold_tokens, tokens),
        rl=rouge_l(gold_tokens, tokens),
        edit_distance=edit_distance(gold, prediction),
    )


NO_PREDICTION = TextScores(r1=0.0, rl=0.0, edit_distance=1.0)


def general_score(r1: float, rl: float, edit_distance: float) -> float:
    """The figure of the general rank: (R1 + RL + 1 - E) / 3, in [0, 1]; higher is better."""
    return (r1 + rl + 1.0 - edit_distance) / 3.0


def _f_measure(shared: int, gold: int, prediction: int) -> float:
    """F1 of precision shared/prediction and recall shared/gold, in closed form."""
    return 2.0 * shared / (gold + prediction) if shared else 0.0
