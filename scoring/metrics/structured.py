"""Key information extraction: field F1 and tree accuracy of nested records.

A record is a JSON value: objects, lists, scalars. Its values are normalised and its structure is
made regular. Then it is compared twice: as a multiset of (path, value) fields, and as an ordered
tree. Source: G. Kim et al., OCR-free document understanding transformer (Donut), ECCV 2022, as
CC-OCR's evaluator for key information computes it, equation 8.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from scoring.metrics import Strict, TooLargeError, check_characters, is_deeper

from .fields import UnparseableError
from .forms import fold, unfenced
from .loose_json import read_values, with_all_values
from .trees import Costs, Floats, Tree, check_size, tree_edit_distance, tree_of

# Deeper records are refused, so that the result never depends on the stack size.
DEEPEST = 100
# Characters of all paths of one record together; every path repeats the keys above it.
LONGEST_PATHS = 20_000_000

_EPSILON = 1e-6
_JSON_FENCE = "```json"
_FENCE = "```"

# Full-width forms of the visible ASCII characters, the ideographic space and comma.
_HALF_WIDTH = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {
    0x3000: " ",
    ord("、"): ",",
}
_WHITE = re.compile(r"\s+")
_BETWEEN_IDEOGRAPHS = re.compile(
    r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fffa-zA-Z0-9])|(?<=[a-zA-Z0-9]) (?=[\u4e00-\u9fff])"
)
_MARK = re.compile(r"(?<![0-9]) ?([,.!?:;]) ?")
_DIGIT_MEETS_LETTER = re.compile(r"(?<=[0-9])(?=[a-zA-Z])|(?<=[a-zA-Z])(?=[0-9])")

# Donut's name for nodes without a key. A value's node is marked as a leaf; a key that contains the
# mark counts as one.
_ROOT, _UNNAMED, _LEAF = "<root>", "<subtree>", "<leaf>"

Record = Any
Fields = Counter[tuple[str, str]]


@dataclass(frozen=True)
class FieldCounts:
    """Fields that are correct, that are only in the prediction, and that are only in the gold."""

    tp: int
    fp: int
    fn: int

    def __add__(self, other: "FieldCounts") -> "FieldCounts":
        return FieldCounts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    @property
    def published(self) -> Strict:
        """2·TP and 2·TP + FP + FN, by which a wrong field costs twice as much as a missing one."""
        return Strict(2 * self.tp, 2 * self.tp + self.fp + self.fn)


def check_gold_record(record: Record) -> None:
    """Raise TooLargeError if not even an identical record could be compared with this one."""
    normalised = normalise_record(record)
    fields_of(normalised)
    tree, labels = _tree(normalised)
    check_size(tree, tree)
    characters = sum(map(len, labels))
    check_characters(characters, characters)


def parse_record(text: str) -> Record:
    """Parse the JSON value in a model's answer: in a ```json fence, or all of it. Line feeds are
    removed first.

    Raises UnparseableError for invalid JSON, for `null`, for an unclosed fence and beyond DEEPEST
    levels.

    >>> parse_record('Sure: ```json {"total": "9.80"} ```')
    {'total': '9.80'}
    """
    start = text.find(_JSON_FENCE)
    if start >= 0:
        start += len(_JSON_FENCE)
        end = text.find(_FENCE, start)
        if end < 0:
            raise UnparseableError("the code fence is never closed")
        text = text[start:end]
    try:
        value = json.loads(text.strip().replace("\n", ""))
    except RecursionError as error:
        raise UnparseableError(f"nested more than {DEEPEST} deep") from error
    except json.JSONDecodeError as error:
        raise UnparseableError(f"not JSON: {error.msg} at character {error.pos}") from error
    except ValueError as error:
        # Python refuses integers of more than 4,300 digits.
        raise UnparseableError("contains a number with too many digits") from error
    if value is None:
        raise UnparseableError("null is not a record")
    if is_deeper(value, DEEPEST):
        raise UnparseableError(f"nested more than {DEEPEST} deep")
    return value


def read_record(text: str, *, numbers_as_written: bool = True) -> Record:
    """Read the record in a model's answer, whatever the text around it.

    The record may be in a code fence of any kind, also an unclosed one, or in a sentence. A key
    that is given twice, in one object or in several, has both values. Numbers are read as written,
    such as 9.80. Raises UnparseableError without a record and beyond DEEPEST levels. Linear time.

    >>> read_record('The total is {"total": 9.80, "total": "9.60"}.')
    {'total': ['9.80', '9.60']}
    """
    values = read_values(unfenced(text), numbers_as_written=numbers_as_written)
    objects = [value for value in values if isinstance(value, dict)]
    value = _merged(objects) if objects else values[0]
    if is_deeper(value, DEEPEST):
        raise UnparseableError(f"nested more than {DEEPEST} deep")
    return value


def holds_decimals(record: Record) -> bool:
    """Whether any number of a record is a decimal number, whose form in its file is not known."""
    waiting = [record]
    while waiting:
        value = waiting.pop()
        if isinstance(value, float):
            return True
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
    return False


def _merged(objects: Sequence[dict[str, Record]]) -> dict[str, Record]:
    return with_all_values([pair for record in objects for pair in record.items()])


def normalise_text(text: str) -> str:
    """Remove differences of width and spacing that do not change the value.

    Full-width characters become ASCII and `、` a comma. There is no space between ideographs, nor
    between an ideograph and a Latin letter or digit. A mark not preceded by a digit has one space
    after and none before it. There is one space between digits and letters.

    >>> normalise_text("3.5kg ,　总 额 9")
    '3.5 kg, 总额9'
    """
    # White space is collapsed first, so that no pattern scans a long run of it repeatedly.
    text = _WHITE.sub(" ", text.translate(_HALF_WIDTH))
    text = _BETWEEN_IDEOGRAPHS.sub("", text)
    text = _MARK.sub(r"\1 ", text)
    text = _DIGIT_MEETS_LETTER.sub(" ", text)
    return _WHITE.sub(" ", text)


def normalise_record(record: Record) -> Record:
    """Return the record with normalised values and a regular structure.

    Values that are not inside a list are normalised (quirk of the reference: strings in lists are
    not). Keys are sorted by (length, key), empty lists and objects dropped. A scalar, including an
    empty string and null, becomes a list of its trimmed text; of a list that is not all objects
    only strings and numbers are kept, as text, unless they are blank.

    >>> normalise_record({"total": 9.5, "id": "", "tax": {}})
    {'id': [''], 'total': ['9.5']}
    """
    return _regular(_with_normal_values(record))


def _with_normal_values(record: Record) -> Record:
    if isinstance(record, dict):
        return {key: _with_normal_values(value) for key, value in record.items()}
    if isinstance(record, list):
        return [_with_normal_values(item) if isinstance(item, dict) else item for item in record]
    return normalise_text(record) if isinstance(record, str) else record


def _regular(record: Record) -> Record:
    if isinstance(record, dict):
        return _regular_object(record)
    if not isinstance(record, list):
        return [str(record).strip()]
    if all(isinstance(item, dict) for item in record):
        return [item for item in map(_regular_object, record) if item]
    # The exact types, since true and false are integers in Python.
    texts = [str(item).strip() for item in record if type(item) in {str, int, float}]
    return [text for text in texts if text]


def _regular_object(record: dict[str, Record]) -> dict[str, Record]:
    regular: dict[str, Record] = {}
    for key in sorted(record, key=lambda key: (len(key), key)):
        if value := _regular(record[key]):
            regular[key] = value if isinstance(value, list) else [value]
    return regular


def comparable_record(record: Record) -> Record:
    """Return the record as `normalise_record` does, with strings in lists normalised too, in folded
    characters, and null as an empty string.

    >>> comparable_record({"total": ["９.80"], "tax": None})
    {'tax': [''], 'total': ['9.80']}
    """
    return _regular(_with_folded_values(record))


def _with_folded_values(record: Record) -> Record:
    if isinstance(record, dict):
        return {fold(key): _with_folded_values(value) for key, value in record.items()}
    if isinstance(record, list):
        return [_with_folded_values(item) for item in record]
    if record is None:
        return ""
    return normalise_text(fold(record)) if isinstance(record, str) else record


# Between the values of a field that has one.
_ALTERNATIVE = " / "


def with_single_values(record: Record, gold: Record) -> Record:
    """Return the record with one value in each field that has one in the gold.

    Equal values are one. Different values are joined, so that none of them is right. Several
    objects in place of one are an object whose fields have the values of all of them.

    >>> gold = {"total": "9.80", "date": "1/2"}
    >>> with_single_values({"total": ["9.80", "9.60"], "date": ["1/2", "1/2"]}, gold)
    {'total': '9.80 / 9.60', 'date': '1/2'}
    """
    single, listed = set[str](), set[str]()
    waiting: list[tuple[str, Record]] = [("", gold)]
    while waiting:
        path, value = waiting.pop()
        is_list = isinstance(value, list)
        (listed if is_list else single).add(path)
        for item in value if is_list else [value]:
            if isinstance(item, dict):
                waiting += [(f"{path}.{fold(key)}", child) for key, child in item.items()]
    return _with_single_values(record, "", single - listed)


def _with_single_values(value: Record, path: str, single: Collection[str]) -> Record:
    if isinstance(value, list) and path in single:
        objects = [item for item in value if isinstance(item, dict)]
        if len(objects) < len(value):
            texts = dict.fromkeys(filter(None, map(_text_of, value)))
            return _ALTERNATIVE.join(texts)
        value = _merged(objects)
    if isinstance(value, dict):
        return {
            key: _with_single_values(child, f"{path}.{fold(key)}", single)
            for key, child in value.items()
        }
    if isinstance(value, list):
        return [
            _with_single_values(item, path, single) if isinstance(item, dict) else item
            for item in value
        ]
    return value


def _text_of(value: Record) -> str:
    """Return the text of a scalar; empty for null and for what is no scalar."""
    is_text = value is not None and not isinstance(value, dict | list)
    return normalise_text(fold(str(value))).strip() if is_text else ""


def fields_of(normalised: Record) -> Fields:
    """Return the (path, value) pairs of a normalised record as a multiset; keys are joined by dots.

    Raises TooLargeError for more than LONGEST_PATHS characters of paths.

    >>> sorted(fields_of({"menu": [{"name": ["tea"]}, {"name": ["tea"]}]}).items())
    [(('menu.name', 'tea'), 2)]
    """
    fields: Fields = Counter()
    waiting = [("", normalised)]
    characters = 0
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            characters += sum(len(path) + len(key) for key in value)
            if characters > LONGEST_PATHS:
                raise TooLargeError(f"paths of more than {LONGEST_PATHS:,} characters")
            waiting += [(f"{path}.{key}" if path else key, child) for key, child in value.items()]
        elif isinstance(value, list):
            waiting += [(path, item) for item in value]
        else:
            fields[path, value] += 1
    return fields


def field_counts(gold: Fields, prediction: Fields) -> FieldCounts:
    """Count the fields that two multisets share, and those of one only."""
    shared = (gold & prediction).total()
    return FieldCounts(shared, prediction.total() - shared, gold.total() - shared)


def strict_counts(gold: Fields, prediction: Fields) -> Strict:
    """Return 2·TP and 2·TP + FP + FN of a record, where no answer costs as much as a wrong one.

    A gold value without a match is FN and FP. Of a path with n gold values, FP beyond those are
    counted too, up to n + TP; with more, nothing at the path is right. Values at other paths are
    FP, see `strict_of`.

    >>> gold = Counter({("total", "9.80"): 1})
    >>> strict_counts(gold, Counter({("total", "9.60"): 1})), strict_counts(gold, Counter())
    (Strict(right=0, counted=2), Strict(right=0, counted=2))
    """
    expected, given, right = (_by_path(fields) for fields in (gold, prediction, gold & prediction))
    extra = sum(count for path, count in given.items() if path not in expected)
    found = 0
    for path, count in expected.items():
        beyond = max(0, given[path] - count)
        if beyond <= 2 * right[path]:
            found += right[path]
            extra += beyond
    return strict_of(gold.total(), found, extra)


def _by_path(fields: Fields) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (path, _), count in fields.items():
        counts[path] += count
    return counts


def strict_of(expected: int, right: int, extra: int) -> Strict:
    """Return 2·TP and 2·TP + FP + FN of an answer to `expected` gold values.

    Those that are not right are FN and FP, `extra` values FP. All of these cost at most as much as
    the right ones are worth, so that an answer never costs more than none.

    >>> strict_of(expected=3, right=2, extra=1), strict_of(expected=3, right=0, extra=1)
    (Strict(right=4, counted=7), Strict(right=0, counted=6))
    """
    most = 2 * (expected + right) or 1
    return Strict(2 * right, min(2 * expected + extra, most))


def field_f1(counts: Iterable[FieldCounts]) -> float:
    """F1 of the fields of all records together, in [0, 1]; higher is better.

    TP / (TP + (FP + FN) / 2 + 1e-6), so that a perfect score is less than 1e-6 below 1 and no
    fields at all give 0. Source: CC-OCR, equation 8.

    >>> round(field_f1([FieldCounts(3, 1, 1)]), 6)
    0.75
    """
    return strict_f1(sum(counts, FieldCounts(0, 0, 0)).published)


def strict_f1(strict: Strict) -> float:
    """`field_f1` of fields that are counted in another way."""
    return strict.right / (strict.counted + 2 * _EPSILON)


def tree_accuracy(gold: Record, prediction: Record) -> float:
    """Similarity of two normalised records as trees, in [0, 1]; higher is better.

    max(0, 1 - TED(prediction, gold) / TED(empty, gold)). Keys are inner nodes, a list of objects
    has an unnamed node per object, values are leaves. Inserting or deleting a leaf costs its
    length, an inner node 1; renaming leaf to leaf their Levenshtein distance, leaf to inner and
    back 1 + the leaf's length, inner to inner 1 if the names differ. Gold without any fields gives
    0 for every prediction, as in the reference. Raises TooLargeError. Source: Kim et al. 2022.

    >>> tree_accuracy({"total": ["9.80"]}, {"total": ["9.60"]})
    0.8
    """
    first, first_labels = _tree(prediction)
    second, second_labels = _tree(gold)
    if second.size == 1:
        return 0.0
    check_size(first, second)
    costs = _costs(first_labels, second_labels)
    # The root is kept and everything else inserted; no other script is cheaper.
    from_nothing = float(costs.insert[second.kinds].sum()) - 1.0
    return max(0.0, 1.0 - tree_edit_distance(first, second, costs) / from_nothing)


def mean_accuracy(accuracies: Sequence[float]) -> float:
    """Mean of tree accuracies, divided by their number + 1e-6 as in the reference."""
    return math.fsum(accuracies) / (len(accuracies) + _EPSILON)


def _tree(record: Record) -> tuple[Tree, list[str]]:
    """Return a normalised record as a tree, and the distinct labels that its kinds number."""
    numbers: dict[str, int] = {}
    kinds: list[int] = []
    parents: list[int] = []
    waiting: list[tuple[str, Record, int]] = [(_ROOT, record, -1)]
    while waiting:
        label, value, parent = waiting.pop()
        node = len(parents)
        parents.append(parent)
        kinds.append(numbers.setdefault(label, len(numbers)))
        waiting += [(name, child, node) for name, child in reversed(_children(value))]
    return tree_of(parents, kinds), list(numbers)


def _children(value: Record) -> list[tuple[str, Record]]:
    """Return labels and contents of the child nodes."""
    if isinstance(value, dict):
        return list(value.items())
    if not isinstance(value, list):
        return []
    return [
        (_UNNAMED, item) if isinstance(item, dict) else (f"{_LEAF}{item}", None) for item in value
    ]


def _costs(first: Sequence[str], second: Sequence[str]) -> Costs:
    """Return Donut's costs for the labels of two trees."""
    texts, lengths, leaves = _leaf_texts(first)
    other_texts, other_lengths, other_leaves = _leaf_texts(second)
    check_characters(int(lengths[leaves].sum()), int(other_lengths[other_leaves].sum()))
    rename = 1.0 + lengths[:, None] * leaves[:, None] + other_lengths * other_leaves
    rows, columns = np.flatnonzero(leaves), np.flatnonzero(other_leaves)
    rename[np.ix_(rows, columns)] = cdist(
        [texts[row] for row in rows],
        [other_texts[column] for column in columns],
        scorer=Levenshtein.distance,
        dtype=np.float64,
    )
    positions = {label: column for column, label in enumerate(second)}
    for row, label in enumerate(first):
        if not leaves[row] and label in positions:
            rename[row, positions[label]] = 0.0
    return Costs(np.where(leaves, lengths, 1.0), np.where(other_leaves, other_lengths, 1.0), rename)


def _leaf_texts(labels: Sequence[str]) -> tuple[list[str], Floats, "np.ndarray[Any, Any]"]:
    """Return the labels without the mark of leaves, their lengths, and which of them are leaves."""
    texts = [label.replace(_LEAF, "") for label in labels]
    lengths = np.array([len(text) for text in texts], dtype=np.float64)
    return texts, lengths, np.array([_LEAF in label for label in labels])
