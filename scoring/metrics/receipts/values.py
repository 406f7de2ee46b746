"""Values and lists of receipts: which are empty or equal, how similar two items of a list are, and
which items match.

Source: ReceiptBench, section 3.4 (types A to D), equation 1 and appendix D.3. Every function on a
value takes any JSON value and never raises. Pairs that could not be accepted are never assigned, so
that the order of items and of ties changes no count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Indel, LCSseq, Levenshtein
from rapidfuzz.process import cdist

from scoring.metrics import TooLargeError, check_characters
from scoring.metrics.trees import one_to_one

from .amounts import AMOUNT_TOLERANCE, Read, currency_in, read_amount, same_currency

_TRUE = frozenset({"true", "yes", "1"})
_DIGITS_TOO_MANY = "a number with too many digits"


def normal_text(value: Any) -> str | None:
    """Return a scalar as text, lower-cased and trimmed; None for a list or an object.

    null is the empty text. Composed and decomposed characters, full width and HTML entities are the
    same text. Nothing else changes: inner white space, punctuation and accents count.

    >>> normal_text("  NSW TrainLink "), normal_text(12.5), normal_text(None), normal_text(["x"])
    ('nsw trainlink', '12.5', '', None)
    """
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return None
    try:
        return normalize("NFKC", unescape(str(value))).strip().lower()
    except ValueError:  # Python prints no whole number of more than 4,300 digits.
        return _DIGITS_TOO_MANY


def is_empty(value: Any) -> bool:
    """Whether a value is empty: null, blank text, `[]`, `{}`, or a list of only such values.

    >>> [is_empty(value) for value in (None, " ", [], {}, [""], 0, False)]
    [True, True, True, True, True, False, False]
    """
    if isinstance(value, list):
        return all(not item if isinstance(item, list) else is_empty(item) for item in value)
    return not value if isinstance(value, dict) else normal_text(value) == ""


def is_empty_amount(value: Any, read: Read = read_amount) -> bool:
    """Whether an amount is empty or 0.

    >>> is_empty_amount("0,00"), is_empty_amount(""), is_empty_amount("0.01")
    (True, True, False)
    """
    return is_empty(value) or any(abs(number) < AMOUNT_TOLERANCE for number in read(value, ""))


def same_text(gold: Any, prediction: Any) -> bool:
    """Whether two scalars are equal as lower-cased, trimmed texts.

    >>> same_text("USD", " usd "), same_text("USD", ["USD"])
    (True, False)
    """
    text = normal_text(gold)
    return text is not None and text == normal_text(prediction)


def same_amount(gold: Any, prediction: Any, read: Read = read_amount, currency: str = "") -> bool:
    """Whether two amounts in a currency have values that differ by less than 1e-6. Two without a
    number are compared as texts.

    If the currency is unknown, it is the one that an amount names. Amounts that name two currencies
    differ, as do one that does and a receipt in another.

    >>> same_amount("1.200,00", "$1200"), same_amount("1.200", "1,2"), same_amount("1.200", "1200")
    (True, True, True)
    >>> same_amount("1.200", "1,2", currency="EUR"), same_amount("€ 1.200", 1.2)
    (False, False)
    """
    if read is read_amount and not same_currency(currency_in(gold) or currency, prediction):
        return False
    currency = currency or currency_in(gold) or currency_in(prediction)
    first, second = read(gold, currency), read(prediction, currency)
    if not first and not second:
        return same_text(gold, prediction)
    return any(abs(a - b) < AMOUNT_TOLERANCE for a in first for b in second)


def is_true(value: Any) -> bool:
    """Whether a flag is true or a word for it; a missing flag is false.

    >>> is_true(True), is_true("True"), is_true("False"), is_true(None)
    (True, True, False, False)
    """
    return normal_text(value) in _TRUE


# Pairs of items of two lists; more are not compared.
MOST_PAIRS = 1_000_000
LARGEST_COST = 0.25
LARGEST_DIFFERENCE = 0.05
# So that 10.05 is 0.05 away from 10.00, and a similarity of 0.75 costs 0.25, in floating point.
ROUNDING = 1e-9
_NO_AMOUNT = (np.nan, np.nan)

Matrix = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
# One vector per text.
Embedding = Callable[[Sequence[str]], Sequence[Sequence[float]]]


class Weights(NamedTuple):
    """Shares of the four similarities of two texts."""

    levenshtein: float
    token_sort: float
    lcs: float
    embedding: float

    def without_embedding(self) -> "Weights":
        """Return the three lexical shares, scaled to a sum of 1.

        >>> Weights(0.0, 0.3, 0.3, 0.4).without_embedding()
        Weights(levenshtein=0.0, token_sort=0.5, lcs=0.5, embedding=0.0)
        """
        lexical = self.levenshtein + self.token_sort + self.lcs
        first, second, third = (share / lexical for share in self[:3])
        return Weights(first, second, third, 0.0)


WEIGHTS = {
    "A": Weights(0.3, 0.2, 0.1, 0.4),
    "B": Weights(0.25, 0.25, 0.25, 0.25),
    "C": Weights(0.4, 0.3, 0.3, 0.0),
    "D": Weights(0.0, 0.3, 0.3, 0.4),
}


class Item(NamedTuple):
    """An item of a list, normalised.

    `text` is None if the item has a wrong type; it then matches nothing. For a line item `amounts`
    are the possible values of its amount, 0 if empty, none if it has no number, and `raw` its text.
    """

    text: str | None
    amounts: tuple[float, ...] = (0.0,)
    raw: str | None = ""
    is_tax: bool = False


class Match(NamedTuple):
    """A gold item, the predicted item that was accepted for it, and their similarity."""

    gold: int
    prediction: int
    similarity: float


@dataclass(frozen=True)
class Comparison:
    """All pairs of two lists of items: rows are gold, columns predictions.

    `parts` are the similarities Levenshtein, token sort, LCS and, with an embedding, cosine;
    `allowed` says which pairs may be matched at all.
    """

    parts: tuple[Matrix, ...]
    allowed: Mask

    def matches(self, weights: Weights) -> list[Match]:
        """Return the accepted pairs under these weights. Raises ValueError if they need an
        embedding and there was none."""
        if weights.embedding and len(self.parts) < len(weights):
            raise ValueError("these weights need an embedding")
        similarity = np.zeros(self.allowed.shape)
        for weight, part in zip(weights, self.parts, strict=False):
            similarity += weight * part
        accepted = self.allowed & (similarity >= 1 - LARGEST_COST - ROUNDING)
        return assign(similarity, accepted)


def text_items(value: Any) -> list[Item]:
    """Return the items of a list of texts, without empty ones. A scalar is a list of one.

    >>> [item.text for item in text_items(["$", "", "Sydney ", {"a": 1}])]
    ['$', 'sydney', None]
    """
    values = value if isinstance(value, list) else [value]
    return [Item(normal_text(item)) for item in values if not is_empty(item)]


def line_items(value: Any, read: Read = read_amount, currency: str = "") -> list[Item]:
    """Return the items of a `detail` list, without those that have neither content nor amount. An
    object is a list of one. Values that are not objects have a wrong type.

    >>> line_items([{"content": "Tax fee", "amount": "5.58", "ifTax": True}, {"content": ""}])
    [Item(text='tax fee', amounts=(5.58,), raw='5.58', is_tax=True)]
    """
    values = value if isinstance(value, list) else [value]
    items = (_line_item(item, read, currency) for item in values if not is_empty(item))
    return [item for item in items if item is not None]


def compare_items(
    gold: Sequence[Item], prediction: Sequence[Item], embed: Embedding | None = None
) -> Comparison:
    """Return similarities of all pairs, and which pairs may match: amounts at most 0.05 apart, same
    flag.

    S = α·Levenshtein + β·token sort + γ·LCS + δ·cosine. Levenshtein is 1 - distance / longer
    length, token sort the indel similarity of the sorted words, LCS the longest common subsequence
    / longer length, each in [0, 1]. Raises TooLargeError beyond MOST_PAIRS.
    """
    first = [item.text or "" for item in gold]
    second = [item.text or "" for item in prediction]
    _check_size(first, second)
    sorted_first, sorted_second = _sorted_words(first), _sorted_words(second)
    parts: list[Matrix] = [
        cdist(first, second, scorer=Levenshtein.normalized_similarity, dtype=np.float64),
        cdist(sorted_first, sorted_second, scorer=Indel.normalized_similarity, dtype=np.float64),
        cdist(first, second, scorer=LCSseq.normalized_similarity, dtype=np.float64),
    ]
    if embed is not None:
        parts.append(_cosines(first, second, embed))
    return Comparison(tuple(parts), _allowed(gold, prediction))


def text_similarities(gold: Sequence[Item], prediction: Sequence[Item]) -> Matrix:
    """Levenshtein similarity, 1 - distance / longer length, of all pairs, in [0, 1].

    Raises TooLargeError beyond MOST_PAIRS.
    """
    first = [item.text or "" for item in gold]
    second = [item.text or "" for item in prediction]
    _check_size(first, second)
    return cdist(first, second, scorer=Levenshtein.normalized_similarity, dtype=np.float64)


def assign(similarity: Matrix, accepted: Mask) -> list[Match]:
    """Return the one-to-one assignment with the most accepted pairs, and of those the most similar
    one.

    Hungarian algorithm (Kuhn, 1955) on the cost 1 - similarity; a pair that is not accepted costs
    more than all others together. Empty without any accepted pair.
    """
    if not accepted.any():
        return []
    if accepted.shape == (1, 1):
        return [Match(0, 0, float(similarity[0, 0]))]
    forbidden = 2.0 * (min(accepted.shape) + 1)
    rows, columns = one_to_one(np.where(accepted, 1.0 - similarity, forbidden))
    return [
        Match(int(row), int(column), float(similarity[row, column]))
        for row, column in zip(rows, columns, strict=True)
        if accepted[row, column]
    ]


def _line_item(value: Any, read: Read, currency: str) -> Item | None:
    if not isinstance(value, dict):
        return Item(None)
    content, amount = value.get("content"), value.get("amount")
    if is_empty(content) and is_empty(amount):
        return None
    text = "" if is_empty(content) else normal_text(content)
    numbers = (0.0,) if is_empty_amount(amount, read) else read(amount, currency)
    if read is read_amount and not same_currency(currency, amount):
        numbers = ()
    return Item(text, numbers, normal_text(amount), is_true(value.get("ifTax")))


def _allowed(gold: Sequence[Item], prediction: Sequence[Item]) -> Mask:
    first, second = _amounts(gold), _amounts(prediction)
    apart = np.abs(first[:, None, :, None] - second[None, :, None, :])
    allowed: Mask = apart.min(axis=(2, 3)) <= LARGEST_DIFFERENCE + ROUNDING
    for row, column in np.argwhere(np.isnan(first[:, :1]) & np.isnan(second[:, 0])):
        text = gold[row].raw
        allowed[row, column] = text is not None and text == prediction[column].raw
    allowed &= _flags(gold)[:, None] == _flags(prediction)[None, :]
    allowed &= _is_text(gold)[:, None] & _is_text(prediction)[None, :]
    return allowed


def _amounts(items: Sequence[Item]) -> Matrix:
    """Return the first and last possible amount of each item, NaN for items without a number."""
    return np.array(
        [(item.amounts[0], item.amounts[-1]) if item.amounts else _NO_AMOUNT for item in items]
    )


def _flags(items: Sequence[Item]) -> Mask:
    return np.array([item.is_tax for item in items], dtype=np.bool_)


def _is_text(items: Sequence[Item]) -> Mask:
    return np.array([item.text is not None for item in items], dtype=np.bool_)


def _sorted_words(texts: Sequence[str]) -> list[str]:
    return [" ".join(sorted(text.split())) for text in texts]


def _cosines(first: Sequence[str], second: Sequence[str], embed: Embedding) -> Matrix:
    """Cosines in [-1, 1]; 0 with a zero vector."""
    vectors = np.asarray(embed([*first, *second]), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths == 0, 1.0, lengths)
    cosines: Matrix = unit[: len(first)] @ unit[len(first) :].T
    return cosines


def _check_size(first: Sequence[str], second: Sequence[str]) -> None:
    if len(first) * len(second) > MOST_PAIRS:
        raise TooLargeError(f"lists of {len(first):,} and {len(second):,} items are not compared")
    check_characters(sum(map(len, first)), sum(map(len, second)))


class Preference(NamedTuple):
    """Two `detail` lists, and for each person whether they mean the same."""

    gold: Any
    prediction: Any
    votes: tuple[bool, ...]


def majority(votes: Sequence[bool]) -> bool | None:
    """The vote of more than half of the people; None for a tie and without votes.

    >>> majority([True, True, False]), majority([True, False])
    (True, None)
    """
    yes = sum(votes)
    return None if 2 * yes == len(votes) else 2 * yes > len(votes)


def accepted(pair: Preference, weights: Weights, embed: Embedding | None = None) -> bool:
    """Whether the matching takes the lists as equal: every item of each list has a partner.

    >>> fare = [{"content": "Trip Fare", "amount": "45.00"}]
    >>> same = Preference(fare, [{"content": "trip fares", "amount": "45"}], ())
    >>> accepted(same, Weights(1, 0, 0, 0)), accepted(same, Weights(0, 1, 0, 0))
    (True, True)
    """
    gold, prediction = line_items(pair.gold), line_items(pair.prediction)
    if len(gold) != len(prediction):
        return False
    return not gold or len(compare_items(gold, prediction, embed).matches(weights)) == len(gold)


def agreement_with_people(
    pairs: Sequence[Preference], weights: Weights, embed: Embedding | None = None
) -> float | None:
    """The share of pairs on which the matching agrees with most people, in [0, 1], higher better.

    Pairs without a majority are left out; None if there are no others.
    """
    decided = [(pair, said) for pair in pairs if (said := majority(pair.votes)) is not None]
    if not decided:
        return None
    return sum(accepted(pair, weights, embed) == said for pair, said in decided) / len(decided)


def weight_grid(steps: int, *, has_embedding: bool) -> list[Weights]:
    """All weights in parts of 1 / `steps`; those of the embedding are 0 without one.

    >>> len(weight_grid(10, has_embedding=True)), len(weight_grid(2, has_embedding=False))
    (286, 6)
    """
    return [
        Weights(a / steps, b / steps, c / steps, (steps - a - b - c) / steps)
        for a in range(steps + 1)
        for b in range(steps + 1 - a)
        for c in range(steps + 1 - a - b)
        if has_embedding or a + b + c == steps
    ]
