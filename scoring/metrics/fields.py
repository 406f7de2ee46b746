"""Structured answers: the JSON in a model's response, flattened to a set of fields, its F1, and
relative scores under harder conditions.

Source: FCMBench (arXiv 2601.00150), section 3.4, by the rules of its published evaluator: F1 of the
fields; per capture condition the F1 divided by that on normal captures. The evaluator's rule for
values reads every number as a float; the other one compares identifiers as text, as the paper's
atomic values ask for. Everything is bounded: text
beyond a limit is unparseable, like text without JSON. Values come from `parse_json`, so none is
nested deeper than DEEPEST levels.
"""

import json
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from decimal import Decimal
from operator import itemgetter
from typing import Any, NamedTuple

from scoring.metrics import is_deeper

# Limits of one answer: characters of its text, levels of nesting, characters of all paths together
# (the paths of nested keys can grow with the square of the text).
LONGEST_TEXT = 2_000_000
DEEPEST = 200
LONGEST_PATHS = 20_000_000

# A path of keys joined by ".", and a value: a scalar's text, or the texts of an inner list.
Value = str | tuple[str, ...]
Field = tuple[str, Value]
Fields = frozenset[Field]
# Returns a scalar under a key as text; equal texts are equal values.
Normalise = Callable[[str, Any], str]

_COMMAS = re.compile("[,，]")
_BRACKETS = str.maketrans("", "", "<>")


class UnparseableError(ValueError):
    """A text without usable JSON. The message gives the reason and does not quote the text."""


def parse_json(text: str) -> Any:
    """Parse the whole text as JSON. Raises UnparseableError.

    As in the reference, NaN and Infinity are read as Python reads them, `1e400` is infinite, and of
    repeated keys the last counts. An integer of more than 4,300 digits, more than DEEPEST levels or
    more than LONGEST_TEXT characters are unparseable.

    >>> parse_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    if len(text) > LONGEST_TEXT:
        raise UnparseableError(f"longer than {LONGEST_TEXT:,} characters")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise UnparseableError(f"not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise UnparseableError(f"nested deeper than {DEEPEST} levels") from error
    except ValueError as error:
        raise UnparseableError("contains a number with too many digits") from error
    if text.count("[") + text.count("{") > DEEPEST and is_deeper(value, DEEPEST):
        raise UnparseableError(f"nested deeper than {DEEPEST} levels")
    return value


def extract_json(response: str) -> Any:
    """Parse the JSON object in a response: its text from the first `{` to the last `}`.

    Raises UnparseableError.

    >>> extract_json('The answer is: {"answer": 12.0}.')
    {'answer': 12.0}
    """
    start, end = response.find("{"), response.rfind("}")
    if start < 0 or end < start:
        raise UnparseableError("contains no JSON object")
    return parse_json(response[start : end + 1])


def unwrap_answer(value: Any) -> Any:
    """Return the value of a top-level key `answer`, else the value itself."""
    return value["answer"] if isinstance(value, dict) and "answer" in value else value


def distinct(values: Sequence[Any]) -> list[Any]:
    """Return JSON values in order, without repeats. The order of keys does not matter."""
    if len(values) < 2:
        return list(values)
    return list({_identity(value): value for value in values}.values())


def _identity(value: Any) -> object:
    """Return a hashable that equal JSON values share."""
    if isinstance(value, dict | list):
        return json.dumps(value, sort_keys=True)
    return type(value), value


def one_or_all(values: Sequence[Any]) -> Any:
    """Return the value if all are equal, else the list of the different ones.

    >>> one_or_all([1, 1]), one_or_all([1, 2, 1])
    (1, [1, 2])
    """
    different = distinct(values)
    return different[0] if len(different) == 1 else different


def without_places(value: Any) -> Any:
    """Replace every `{"content", "coord"}`, a value with its place on the image as FCMBench
    annotates it, by its content. Values are nested at most DEEPEST levels.

    >>> without_places({"name": {"content": "Li Wei", "coord": [10, 20, 90, 40]}})
    {'name': 'Li Wei'}
    """
    if isinstance(value, list):
        return [without_places(child) for child in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"content", "coord"}:
        return without_places(value["content"])
    return {key: without_places(child) for key, child in value.items()}


# More digits than this are no quantity, and more than a float represents.
_MOST_DIGITS = 15
_PLAIN_NUMBER = re.compile(r"([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?")
# A number with its digits as `normalise_text` prints it.
_QUANTITY = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?", re.ASCII)
_NEW_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")
_IDENTIFIERS = frozenset(
    "id ssn ein tin itin ptin iban bic swift vin zip postcode code phone telephone fax".split()
)
# So that 2.68 is 2 away from 0.68 in floating point.
_ROUNDING = 1e-9
_NUMBERED = frozenset({"no", "number", "numbers", "num", "nr"})
_IDENTIFIER_IN_CHINESE = re.compile(r"号码?(?:$|[（(])|编码|代码|邮编|电话|手机")


def names_identifier(key: str) -> bool:
    """Whether a key names an identifier, such as an account or a registration number or a code, by
    its English or Chinese words.

    >>> [names_identifier(key) for key in ("Account number", "idNo", "卡号", "Number of pages")]
    [True, True, True, False]
    """
    if _IDENTIFIER_IN_CHINESE.search(key):
        return True
    words = _NEW_WORD.sub(" ", key).lower().split()
    return any(
        word in _IDENTIFIERS or (at and word in _NUMBERED and words[at + 1 : at + 2] != ["of"])
        for at, word in enumerate(words)
    )


def normalise_text(key: str, value: Any) -> str:
    """Return a scalar as text: without `<` and `>`, trimmed, quantities by their exact value and
    identifiers as they are.

    A quantity is digits with a sign, commas and a decimal point; its commas, extra zeros and plus
    sign are removed. Identifiers are values under a key that names one, digits after a leading
    zero, and more than 15 digits in a row. So `007` is not `7`, and two account numbers that differ
    in the last digit are different. A text with an exponent is no number. null is the empty text.

    >>> [normalise_text("", value) for value in (12.0, "1,234.50", "007", "12e4", None)]
    ['12', '1234.5', '007', '12e4', '']
    >>> normalise_text("card no.", "1,234.0"), normalise_text("", "6222021234567893445")
    ('1,234.0', '6222021234567893445')
    """
    text = _printed(value)
    if names_identifier(key) and not isinstance(value, float):
        return text
    number = _PLAIN_NUMBER.fullmatch(text.replace(",", ""))
    if number is None:
        return text
    whole, places = (_ascii_digits(digits or "") for digits in (number[2], number[3]))
    is_code = (len(whole) > 1 and whole[0] == "0") or (text == whole and len(whole) > _MOST_DIGITS)
    if is_code:
        return text
    printed = f"{whole or '0'}.{places}".rstrip("0").rstrip(".") if places else whole
    return f"-{printed}" if number[1] == "-" and printed.strip("0.") else printed


# Digits with commas that group them, also in the Indian way.
_GROUPED = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})*,\d{3})(?:\.\d*)?")


def normalise_plain(key: str, value: Any) -> str:
    """`normalise_text` without regard to typography: Unicode forms, widths, dashes, minus signs,
    quotes and spaces. Commas belong to a number only where they group its digits; other ones
    separate values.

    >>> [normalise_plain("", value) for value in ("−1,234.50", "１２％", "1,2", "1，234")]
    ['-1234.5', '12%', '1,2', '1234']
    """
    if not isinstance(value, str):
        return normalise_text(key, value)
    text = plain(value)
    if "," not in text or _GROUPED.fullmatch(text):
        return normalise_text(key, text)
    return ",".join(normalise_text(key, part) for part in dict.fromkeys(text.split(",")))


_PLAIN = str.maketrans(
    dict.fromkeys("‐‑‒–—―−⁃˗", "-")
    | dict.fromkeys("‘’‚‛′ʼ`´", "'")
    | dict.fromkeys("“”„‟″", '"')
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff<>", "")
)
# Raised digits are other digits: 10² is not 102.
_RAISED = str.maketrans({raised: f"^{digit}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
_BEFORE_PERCENT = re.compile(r"(?<=\d) %")


def plain(text: str) -> str:
    """Return the text without `<` and `>` and in plain typography: compatibility forms, dashes,
    quotes and white space.

    >>> plain(" <Café> “１２ ％”–3 ")
    'Café "12%"-3'
    """
    folded = unicodedata.normalize("NFKC", text.translate(_RAISED)).translate(_PLAIN)
    return _BEFORE_PERCENT.sub("%", " ".join(folded.split()))


def with_plain_keys(value: Any) -> Any:
    """Return a JSON value with its keys in plain typography. Keys that become equal are one key
    with all of their values."""
    if isinstance(value, list):
        return [with_plain_keys(child) for child in value]
    if not isinstance(value, dict):
        return value
    children: defaultdict[str, list[Any]] = defaultdict(list)
    for key, child in value.items():
        children[plain(key)].append(with_plain_keys(child))
    return {key: one_or_all(same) for key, same in children.items()}


def single_paths(value: Any) -> frozenset[str]:
    """Return the paths that have one scalar: those of `flatten` that are in no list.

    >>> sorted(single_paths({"name": "Li", "cards": ["A"]})), single_paths("yes")
    (['name'], frozenset({''}))
    """
    paths: set[str] = set()
    waiting = [("", value)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, dict):
            waiting += [(f"{path}.{key}" if path else key, child) for key, child in node.items()]
        elif not isinstance(node, list):
            paths.add(path)
    return frozenset(paths)


def _printed(value: Any) -> str:
    """Return a scalar without `<` and `>` and trimmed. Floats have no exponent."""
    if value is None:
        return ""
    if isinstance(value, float) and math.isfinite(value):
        value = f"{Decimal(repr(value)):f}"
    return str(_ordered(value)).translate(_BRACKETS).strip()


def _ascii_digits(digits: str) -> str:
    return digits if digits.isascii() else "".join(str(int(digit)) for digit in digits)


def normalise_value(value: Any) -> str:
    """Return a scalar as text by the published evaluator's rule: without `<` and `>`, trimmed,
    numbers without separators and extra zeros.

    A text that Python's `float` accepts once every `,` is removed is a number: integers are printed
    without a decimal point, others in the shortest form. So `007` is `7`, too large numbers are
    `inf`, and integers beyond 2^53 are the nearest float. The full-width comma is not a thousands
    separator. null is the empty text.

    >>> [normalise_value(value) for value in (12.0, "1,234.50", " <A-7> ", "007", "1e400", None)]
    ['12', '1234.5', 'A-7', '7', 'inf', '']
    """
    if value is None:
        return ""
    text = str(_ordered(value)).translate(_BRACKETS).strip()
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else str(number)


def normalise_float(_key: str, value: Any) -> str:
    """`normalise_value`, whatever the key."""
    return normalise_value(value)


def flatten(value: Any, normalise: Normalise = normalise_text) -> Fields:
    """Return the fields of a JSON value: a set of (path, value).

    Keys are joined by `.` and not normalised. Elements of a list share the list's path; an inner
    list of a list is one value, the tuple of its normalised elements. Other scalars are normalised
    and split at `,` and `，`; empty parts are dropped. Raises UnparseableError if the paths
    together are longer than LONGEST_PATHS.

    >>> sorted(flatten({"name": "Li, Wei", "total": {"net": 12.0}}))
    [('name', 'Li'), ('name', 'Wei'), ('total.net', '12')]
    >>> flatten([["rent", 30.0]])
    frozenset({('', ('rent', '30'))})
    """
    fields: set[Field] = set()
    stack = [("", "", value)]
    length = 0
    while stack:
        path, key, node = stack.pop()
        if isinstance(node, dict):
            for name, child in node.items():
                length += len(path) + len(name)
                if length > LONGEST_PATHS:
                    raise UnparseableError("its paths are too long")
                stack.append((f"{path}.{name}" if path else name, name, child))
        elif isinstance(node, list):
            for child in node:
                if isinstance(child, list):
                    fields.add((path, tuple(normalise(key, part) for part in child)))
                else:
                    stack.append((path, key, child))
        else:
            parts = map(str.strip, _COMMAS.split(normalise(key, node)))
            fields.update((path, part) for part in parts if part)
    return frozenset(fields)


def set_f1(gold: Set[Field], prediction: Set[Field]) -> float:
    """F1 of two sets of fields, in [0, 1]; higher is better.

    2·|gold ∩ prediction| / (|gold| + |prediction|). Both empty: 1; one empty: 0.

    >>> set_f1({("", "A"), ("", "B")}, {("", "B")})
    0.6666666666666666
    """
    if not gold and not prediction:
        return 1.0
    return 2.0 * len(gold & prediction) / (len(gold) + len(prediction))


Tolerance = Callable[[str], float]


def within_two(_: str) -> float:
    """The published tolerance, the same for every number."""
    return 2.0


def below_two(_: str) -> float:
    """The paper's tolerance: less than 2."""
    return 2.0 - 2 * _ROUNDING


# Two decimals are what an answer is rounded to.
_SHARE, _HALF_CENT = 0.01, 0.005


def relative_tolerance(number: str) -> float:
    """2 for whole numbers. For others and percentages 1 % of the number, but at least 0.005, since
    ratios are rounded to two decimals, and at most 2.

    >>> [round(relative_tolerance(number), 4) for number in ("281", "0.68", "0.3", "35%", "520.34")]
    [2.0, 0.0068, 0.005, 0.35, 2.0]
    """
    if "." not in number and "%" not in number:
        return 2.0
    return min(max(abs(float(number.rstrip("%"))) * _SHARE, _HALF_CENT), 2.0)


def near_pairs(
    gold: Set[Field], prediction: Set[Field], tolerance: Tolerance = within_two
) -> list[tuple[Field, Field]]:
    """Pair fields of the same path, each at most once, that are equal but for numbers that are at
    most as far apart as the tolerance of the gold number: as many as possible if the values have
    one number each and all of them the same tolerance.

    Numbers are quantities by `normalise_text`, with or without a percent sign; texts and
    identifiers must be equal. In a tuple every number has the tolerance. n·log n time.

    >>> near_pairs({("", "95"), ("", "A")}, {("", "97"), ("", "B")})
    [(('', '95'), ('', '97'))]
    """
    groups: defaultdict[Any, tuple[list[_Numbers], list[_Numbers]]] = defaultdict(lambda: ([], []))
    for side, fields in enumerate((gold, prediction)):
        for field in fields:
            texts, numbers = _texts_and_numbers(field)
            groups[field[0], texts][side].append(
                _Numbers(tuple(map(_number, numbers)), field, numbers)
            )
    pairs = []
    for ours, theirs in groups.values():
        ours.sort(key=itemgetter(0), reverse=True)
        theirs.sort(key=itemgetter(0), reverse=True)
        while ours and theirs:
            if _are_near(ours[-1], theirs[-1], tolerance):
                pairs.append((ours.pop().field, theirs.pop().field))
            else:
                (ours if ours[-1].values < theirs[-1].values else theirs).pop()
    return pairs


class _Numbers(NamedTuple):
    values: tuple[float, ...]
    field: Field
    texts: tuple[str, ...]


def _are_near(ours: _Numbers, theirs: _Numbers, tolerance: Tolerance) -> bool:
    return all(
        abs(a - b) <= tolerance(text) + _ROUNDING
        for a, b, text in zip(ours.values, theirs.values, ours.texts, strict=True)
    )


def _number(text: str) -> float:
    return float(text.rstrip("%"))


def _texts_and_numbers(field: Field) -> tuple[Any, tuple[str, ...]]:
    """Return the value with a mark for each of its numbers, and the numbers as text."""
    path, value = field
    parts = (value,) if isinstance(value, str) else value
    is_exact = names_identifier(path.rstrip(".").rpartition(".")[2])
    are_numbers = [not is_exact and _is_quantity(part) for part in parts]
    texts = tuple(
        (part.endswith("%"),) if is_number else part
        for part, is_number in zip(parts, are_numbers, strict=True)
    )
    numbers = (part for part, is_number in zip(parts, are_numbers, strict=True) if is_number)
    return (isinstance(value, str), texts), tuple(numbers)


def _is_quantity(text: str) -> bool:
    text = text.removesuffix("%")
    digits = len(text) - text.count("-") - text.count(".")
    return digits <= _MOST_DIGITS and _QUANTITY.fullmatch(text) is not None


def is_close(gold: Any, prediction: Any, tolerance: float = 2.0) -> bool:
    """Whether two numbers differ by at most the tolerance. Values that are not numbers are never
    close.

    A text is a number if Python's `float` accepts it unchanged: `1,234` is not. Nothing is close to
    NaN, and infinite numbers are not close to each other.

    >>> is_close(281, "283"), is_close(281, 283.5), is_close(281, "1,281")
    (True, False, False)
    """
    try:
        return abs(float(prediction) - float(gold)) <= tolerance
    except (TypeError, ValueError, OverflowError):
        return False


def _ordered(value: Any) -> Any:
    """Sort the keys of objects, so that the text of an object inside an inner list does not depend
    on their order."""
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_ordered(child) for child in value]
    return value


# By task and subtask.
SubtaskScores = dict[str, dict[str, float]]


def relative_scores(scores: Mapping[str, SubtaskScores], baseline: str) -> dict[str, float | None]:
    """Each condition's score divided by that of the baseline condition; higher is better.

    `scores` are each condition's rates in [0, 1]. A task is the mean of its subtasks. Both sides
    are means over the subtasks that the condition and the baseline have, so that a condition
    without the hard ones gains nothing. Ratios of conditions with different subtasks cannot be
    compared. A ratio is at least 0 and may exceed 1. None if they share no subtask, or if the
    baseline scores 0. The baseline's own ratio, 1, is included.

    >>> normal = {"A": {"easy": 0.9, "hard": 0.3}, "B": {"only": 0.2}}
    >>> relative_scores({"normal": normal, "blur": {"A": {"hard": 0.15}}}, "normal")
    {'normal': 1.0, 'blur': 0.5}
    """
    base = scores.get(baseline, {})
    ratios: dict[str, float | None] = {}
    for condition, tasks in scores.items():
        shared = {task: tasks[task].keys() & base[task].keys() for task in tasks if task in base}
        part, whole = (
            math.fsum(
                math.fsum(side[task][subtask] for subtask in subtasks) / len(subtasks)
                for task, subtasks in shared.items()
                if subtasks
            )
            for side in (tasks, base)
        )
        ratios[condition] = part / whole if whole else None
    return ratios
