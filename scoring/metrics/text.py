"""Text metrics: ROUGE-1, ROUGE-L and normalised edit distance of one page.

All take text as it is; what counts as the text of an HTML page is for the caller to say
(`visible_text`). Source: FinCriticalED, "General" metrics; C.-Y. Lin, ROUGE, 2004, as computed by
the `rouge-score` package.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq, Levenshtein

from .porter import stem

_TOKEN = re.compile(r"[a-z0-9]+")
_STEMMED_FROM = 4


@dataclass(frozen=True)
class TextScores:
    """The three text metrics of one page, each in [0, 1]. `edit_distance`: lower is better."""

    r1: float
    rl: float
    edit_distance: float


def rouge_tokens(text: str) -> list[str]:
    """The tokens ROUGE counts: runs of `[a-z0-9]` of the lower-cased text, stemmed from 4 letters
    on.

    >>> rouge_tokens("Net losses, 2024: $(1,200)")
    ['net', 'loss', '2024', '1', '200']
    """
    return [
        stem(token) if len(token) >= _STEMMED_FROM else token
        for token in _TOKEN.findall(text.lower())
    ]


def rouge_1(gold: Sequence[str], prediction: Sequence[str]) -> float:
    """F-measure of the tokens two texts share, as multisets, in [0, 1]; higher is better.

    2·overlap / (len(gold) + len(prediction)); 0 when both are empty, as `rouge-score` has it.

    >>> round(rouge_1(["net", "loss", "2"], ["net", "net", "loss"]), 4)
    0.6667
    """
    shared = Counter(gold) & Counter(prediction)
    return _f_measure(shared.total(), len(gold), len(prediction))


def rouge_l(gold: Sequence[str], prediction: Sequence[str]) -> float:
    """F-measure of the longest common subsequence of tokens, in [0, 1]; higher is better.

    Computed over the whole texts, without splitting sentences; 0 when both are empty.

    >>> round(rouge_l(["net", "loss", "2"], ["2", "net", "loss"]), 4)
    0.6667
    """
    return _f_measure(LCSseq.similarity(gold, prediction), len(gold), len(prediction))


def edit_distance(gold: str, prediction: str) -> float:
    """Levenshtein distance over characters / length of the longer text, in [0, 1]; lower is better.

    Two empty texts are at distance 0, one empty text is at distance 1 of any other.

    >>> edit_distance("1,200", "1.200")
    0.2
    """
    return float(Levenshtein.normalized_distance(gold, prediction))


def text_scores(gold: str, prediction: str) -> TextScores:
    """R1, RL and edit distance of one page's text against its gold text."""
    gold_tokens, tokens = rouge_tokens(gold), rouge_tokens(prediction)
    return TextScores(
        r1=rouge_1(gold_tokens, tokens),
        rl=rouge_l(gold_tokens, tokens),
        edit_distance=edit_distance(gold, prediction),
    )


NO_PREDICTION = TextScores(r1=0.0, rl=0.0, edit_distance=1.0)


def general_score(r1: float, rl: float, edit_distance: float) -> float:
    """What the general rank sorts by: (R1 + RL + 1 - E) / 3, in [0, 1]; higher is better."""
    return (r1 + rl + 1.0 - edit_distance) / 3.0


def _f_measure(shared: int, gold: int, prediction: int) -> float:
    """F1 of precision shared/prediction and recall shared/gold, in closed form."""
    return 2.0 * shared / (gold + prediction) if shared else 0.0
