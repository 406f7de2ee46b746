"""Scores one image under the benchmark's options, summarises it, and returns its contributions to
the figures with intervals.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from heapq import nsmallest
from typing import Any

from lxml import etree

from scoring.benchmarks.graded import (
    WHOLE,
    FieldGrades,
    FieldName,
    GradedField,
    GradedItem,
    WrongFields,
    graded_cells,
    graded_lines,
    graded_record,
    verdict,
)
from scoring.benchmarks.items import (
    Contribution,
    ItemResult,
    ItemSummary,
    Options,
    Payload,
    Sides,
    excerpt,
    named_errors,
)
from scoring.benchmarks.options import Option, complete_options
from scoring.metrics import Strict, TooLargeError
from scoring.metrics.fields import UnparseableError
from scoring.metrics.forms import (
    document_source,
    formula_source,
    molecule_source,
    reading_source,
)
from scoring.metrics.reading import (
    Matches,
    Overlap,
    UnitRule,
    Word,
    document_score,
    fenced,
    formula_score,
    grounding_f1,
    is_repetitive,
    match_words,
    molecule_score,
    overlap_f1,
    reading_units,
    similarity,
    unit_overlap,
    word_of,
)
from scoring.metrics.structured import (
    FieldCounts,
    Fields,
    Record,
    comparable_record,
    field_counts,
    fields_of,
    holds_decimals,
    normalise_record,
    parse_record,
    read_record,
    strict_counts,
    strict_f1,
    strict_of,
    tree_accuracy,
    with_single_values,
)
from scoring.metrics.table_forms import read_tables, table_similarity
from scoring.metrics.tables import table_scores

FACTBOARD, REFERENCE, PAPER = "factboard", "reference", "paper"

# The published evaluator's rules cost a model the form of its answer: the case of a tag, Markdown.
# The evaluator reads Arabic by characters; the paper names only Chinese, Japanese and Korean.
OPTIONS = (
    Option("rules", FACTBOARD, choices=(FACTBOARD, REFERENCE)),
    Option("units", REFERENCE, choices=(REFERENCE, PAPER)),
)
_BY_CHARACTERS = {
    REFERENCE: frozenset({"Arabic", "Japanese", "Korean"}),
    PAPER: frozenset({"Japanese", "Korean"}),
}


def check_options(raw: Mapping[str, object]) -> Options:
    """Return complete, canonical options. Raises OptionError.

    >>> check_options({})
    {'rules': 'factboard', 'units': 'reference'}
    """
    return complete_options(OPTIONS, raw)


def by_reference(options: Mapping[str, str]) -> bool:
    """Whether these options ask for the published evaluator's rules. Old gradings know no other."""
    return options.get("rules", REFERENCE) == REFERENCE


def unit_rule(track: str, subset: str, options: Options) -> UnitRule:
    """Return the basic units of a subset.

    >>> unit_rule("multi_scene", "FUNSD", check_options({}))
    UnitRule(characters=False, alphanumeric=True)
    """
    characters = subset in _BY_CHARACTERS[options["units"]] or "zh" in subset
    return UnitRule(characters, alphanumeric=track == "multi_scene" and not characters)


UNPARSEABLE, TOO_LARGE = "unparseable", "too large"

# The most wrong fields that an item lists.
_MOST_LISTED = 50

Figures = dict[str, Any]


def score_item(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    """Return the scores of one image, as plain JSON.

    `score` is the image's own figure in [0, 1] (by the published rules, TEDS can be negative). The
    other keys are what its subset sums up: `gold_units`, `prediction_units`, `right_units` and `f1`
    in reading; the published `teds` and `teds_s` of a table; `tp`, `fp`, `fn`, `acc`, and the
    `missed` and `extra` fields of a record; `tp`, `fp`, `fn` in grounding. `strict` are the
    numerator and denominator of the F1 that counts. `fault` gives the reason why a response could
    not be used.
    """
    response = None if prediction is None else prediction["response"]
    return {
        "id": gold["id"],
        "subset": gold["subset"],
        "track": gold["track"],
        "op": gold["op"],
        "orientation": gold.get("orientation"),
        "missing": response is None,
        "repetitive": None if response is None else is_repetitive(response),
        "fault": None,
        "reason": None,
        **_SCORERS[gold["op"]](gold, response, options),
    }


def _reading(gold: Payload, response: str | None, options: Options) -> Figures:
    rule = unit_rule(gold["track"], gold["subset"], options)
    ours, theirs = gold["answer"], response or ""
    if not by_reference(options):
        ours, theirs = reading_source(ours), reading_source(theirs)
    overlap = unit_overlap(reading_units(ours, rule), reading_units(theirs, rule))
    f1 = overlap_f1(overlap)
    return {"score": f1, "f1": f1, **_units(overlap)}


def _units(overlap: Overlap) -> Figures:
    return {f"{name}_units": count for name, count in overlap._asdict().items()}


def _similar(
    published: Callable[[str, str], float], source: Callable[[str], str]
) -> Callable[..., Figures]:
    """Return a scorer for texts that are compared as a whole."""

    def score(gold: Payload, response: str | None, options: Options) -> Figures:
        if response is None:
            return {"score": 0.0}
        try:
            if by_reference(options):
                return {"score": published(gold["answer"], response)}
            return {"score": similarity(source(gold["answer"]), source(response))}
        except TooLargeError as error:
            return {"score": 0.0, **_fault(TOO_LARGE, error)}

    return score


def _table(gold: Payload, response: str | None, options: Options) -> Figures:
    """Score a table by the rules of the board, and by the published ones for comparison."""
    figures: Figures = {"score": 0.0, "teds": 0.0, "teds_s": 0.0}
    if response is None:
        return figures
    try:
        scores = table_scores(gold["answer"], response)
        figures |= {"score": scores.teds, "teds": scores.teds, "teds_s": scores.teds_s}
    except TooLargeError as error:
        figures |= _fault(TOO_LARGE, error)
    if by_reference(options):
        return figures
    try:
        ours = {"score": table_similarity(gold["answer"], response), "fault": None, "reason": None}
    except TooLargeError as error:
        ours = {"score": 0.0, **_fault(TOO_LARGE, error)}
    return figures | ours


def _record(gold: Payload, response: str | None, options: Options) -> Figures:
    """Score a record. An unreadable answer counts as an empty object."""
    answer = _gold_record(gold["answer"], options)
    fields = fields_of(answer)
    found: Record = {}
    found_fields = Fields()
    fault: Figures = {}
    try:
        if response is not None:
            found = _answered_record(gold["answer"], response, options)
            found_fields = fields_of(found)
    except UnparseableError as error:
        fault = _fault(UNPARSEABLE, error)
    except TooLargeError as error:
        found, fault = {}, _fault(TOO_LARGE, error)
    try:
        accuracy = tree_accuracy(answer, found)
    except TooLargeError as error:
        accuracy, fault = 0.0, _fault(TOO_LARGE, error)
    counts = field_counts(fields, found_fields)
    strict = counts.published if by_reference(options) else strict_counts(fields, found_fields)
    return {
        "score": strict_f1(strict),
        "acc": accuracy,
        **_counts(counts, strict),
        "missed": _shown(fields - found_fields),
        "extra": _shown(found_fields - fields),
        **fault,
    }


def _gold_record(answer: Record, options: Mapping[str, str]) -> Record:
    return normalise_record(answer) if by_reference(options) else comparable_record(answer)


def _answered_record(answer: Record, response: str, options: Mapping[str, str]) -> Record:
    """Return the record in a response, normalised. Raises UnparseableError."""
    if by_reference(options):
        return normalise_record(parse_record(response))
    found = read_record(response, numbers_as_written=not holds_decimals(answer))
    return comparable_record(with_single_values(found, answer))


def _grounding(gold: Payload, response: str | None, options: Options) -> Figures:
    """Score words with places. Invalid entries match nothing."""
    words = [word for word in map(word_of, gold["answer"]) if word is not None]
    fault: Figures = {}
    entries: list[Word | None] = []
    try:
        if response is not None:
            parse = parse_record if by_reference(options) else _place_list
            entries = _words(parse(response))
    except UnparseableError as error:
        fault = _fault(UNPARSEABLE, error)
    usable = [word for word in entries if word is not None]
    try:
        matches = match_words(words, usable, unit_rule(gold["track"], gold["subset"], options))
    except TooLargeError as error:
        matches, fault = Matches(0, len(usable), len(words), 0), _fault(TOO_LARGE, error)
    invalid = len(entries) - len(usable)
    counts = FieldCounts(matches.tp, matches.fp + invalid, matches.fn)
    strict = counts.published
    if not by_reference(options):
        strict = strict_of(len(words), matches.tp, matches.extra + invalid)
    return {"score": grounding_f1(strict), **_counts(counts, strict), **fault}


def _place_list(response: str) -> Record:
    return read_record(response, numbers_as_written=False)


def _words(entries: Record) -> list[Word | None]:
    if not isinstance(entries, list):
        raise UnparseableError("not a list of words")
    return [word_of(entry) for entry in entries]


def _counts(counts: FieldCounts, strict: Strict) -> Figures:
    return {"tp": counts.tp, "fp": counts.fp, "fn": counts.fn, "strict": list(strict)}


def _shown(fields: Fields) -> list[list[str]]:
    """Return the first of these fields, by path and value, each shortened."""
    listed = nsmallest(_MOST_LISTED, fields.elements())
    return [[excerpt(path), excerpt(value)] for path, value in listed]


def _fault(kind: str, error: Exception) -> Figures:
    return {"fault": kind, "reason": str(error)}


_SCORERS: dict[str, Callable[[Payload, str | None, Options], Figures]] = {
    "ocr": _reading,
    "doc": _similar(document_score, document_source),
    "formula": _similar(formula_score, formula_source),
    "molecular": _similar(molecule_score, molecule_source),
    "table": _table,
    "kie": _record,
    "grounding": _grounding,
}


OVERALL, REPETITION = "overall", "repetition"
# The figure of a subset by op; for records it is F1, see below.
_VALUES = {"ocr": "f1", "doc": "score", "formula": "score", "molecular": "score", "table": "score"}
_RECORD = "kie"


def contributions(result: Mapping[str, Any], _: Mapping[str, str]) -> Iterator[Contribution]:
    """Return the contribution to the subset's figure; a track is the mean of its subsets. Grounding
    and images that state an orientation belong to no track.
    """
    if not result["missing"]:
        yield Contribution(REPETITION, float(bool(result["repetitive"])))
    track, op = result["track"], result["op"]
    if result["orientation"] is not None or (op not in _VALUES and op != _RECORD):
        return
    amount, facts = _of_subset(result), _facts_of(result)
    # The same name may be a subset of several ops.
    subset = f"{op} {result['subset']}"
    yield Contribution(track, *amount, part=(subset,), facts=facts)
    yield Contribution(OVERALL, *amount, part=(track, subset), facts=facts)


def stratum(result: Mapping[str, Any]) -> str:
    return f"{result['track']} {result['op']} {result['subset']} {result['orientation']}"


def _of_subset(result: Mapping[str, Any]) -> tuple[float, float]:
    """Return numerator and denominator. For records they are those of the F1 over all fields of a
    subset."""
    if result["op"] != _RECORD:
        return result[_VALUES[result["op"]]], 1.0
    return strict_of_result(result)


def _facts_of(result: Mapping[str, Any]) -> float:
    """Return how many facts share the score: fields, each counted twice in F1, or words, of which a
    single one has this share of F1 at most. Other texts are one."""
    if result["op"] == _RECORD:
        return strict_of_result(result).counted / 2
    return (result["gold_units"] + 1) / 2 if result["op"] == "ocr" else 1.0


def strict_of_result(result: Mapping[str, Any]) -> Strict:
    """Return the counts of the F1 that counts. Older results have only the published ones."""
    if "strict" in result:
        return Strict(*result["strict"])
    return FieldCounts(result["tp"], result["fp"], result["fn"]).published


_ERRORS = {"extra": "extra fields", "missed": "missed fields", "repetitive": "repetitive"}


def summarise(result: Mapping[str, Any], _: Mapping[str, str]) -> ItemSummary:
    """Return its score, its track and subset, and the errors in its record or text."""
    errors = named_errors(result, _ERRORS)
    if result["fault"]:
        errors.append(result["fault"])
    part = f"{result['track']} {result['subset']}"
    return ItemSummary(result["score"], part, tuple(sorted(errors)))


def sides(gold: Payload, prediction: Payload | None, options: Mapping[str, str]) -> Sides | None:
    """Return texts, or the records of key information; None for others, such as boxes."""
    answer, response = gold["answer"], None if prediction is None else prediction["response"]
    if gold["op"] == _RECORD:
        return _record_sides(answer, response, options)
    return Sides(answer, response) if isinstance(answer, str) else None


def _record_sides(answer: Record, response: str | None, options: Mapping[str, str]) -> Sides:
    read = None if response is None else _shown_record(answer, response, options)
    return Sides(_object(_gold_record(answer, options)), read)


def _shown_record(
    answer: Record, response: str, options: Mapping[str, str]
) -> dict[str, Any] | None:
    try:
        return _object(_answered_record(answer, response, options))
    except UnparseableError:
        return None


def _object(record: Any) -> dict[str, Any]:
    return record if isinstance(record, dict) else {"answer": record}


# Results list only the fields of key information, so texts and tables are aligned here: a text word
# by word, a table cell by cell. Their scores are similarities of the whole.
_TEXTS = frozenset({"ocr", "doc", "formula", "molecular"})
# Sums of floats that should be 1.
_NEARLY_ONE = 1 - 2e-6


def _wrong(result: Mapping[str, Any]) -> WrongFields:
    """Other results than records only say whether the whole item is right."""
    kind = result["subset"]
    if result["op"] != _RECORD:
        return WrongFields(Counter([FieldName(kind, WHOLE, "")] * (result["score"] < _NEARLY_ONE)))
    missed = Counter(FieldName(kind, path, value) for path, value in result["missed"])
    return WrongFields(missed, is_cut=result["fn"] > missed.total())


def _graded(
    gold: Payload, prediction: Payload | None, result: ItemResult, options: Options
) -> GradedItem | None:
    answer, op, kind = gold["answer"], result["op"], result["subset"]
    response = None if prediction is None else str(prediction["response"])
    if op == _RECORD:
        return _graded_fields(answer, response, kind, options)
    if op in _TEXTS:
        return graded_lines(answer, response or "", kind)
    if op == "table":
        return graded_cells(_cells(answer, options), _cells(response or "", options), kind)
    return None


def _graded_fields(answer: Record, response: str | None, kind: str, options: Options) -> GradedItem:
    ours = fields_of(_gold_record(answer, options))
    theirs = _read(answer, response or "", options)
    extra: defaultdict[str, list[str]] = defaultdict(list)
    for path, value in sorted((theirs - ours).elements()):
        extra[path].append(value)
    fields = []
    # Of equal values the first ones are right.
    left = ours & theirs
    for path, value in sorted(ours.elements()):
        is_right = left[path, value] > 0
        left[path, value] -= 1
        read = value if is_right else "; ".join(extra[path]) or None
        fields.append(GradedField(kind, path, value, read, verdict(read, is_right=is_right)))
    return graded_record(fields, _record_sides(answer, response, options), response)


def _read(answer: Record, response: str, options: Options) -> Fields:
    try:
        return fields_of(_answered_record(answer, response, options))
    except (UnparseableError, TooLargeError):
        return Fields()


_PARSER = etree.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")


def _cells(text: str, options: Options) -> list[list[str]]:
    """Return the cells of the compared tables by row; none without a table."""
    if not by_reference(options):
        try:
            return [row for table in read_tables(text) for row in table]
        except TooLargeError:
            return []
    markup = fenced(text, "html")
    if "<table" not in markup:
        return []
    document = f"<html><body>{markup}</body></html>".encode("utf-8", "replace")
    table = etree.fromstring(document, parser=_PARSER).find(".//table")
    if table is None:
        return []
    rows = ([cell for cell in row if cell.tag in {"td", "th"}] for row in table.iter("tr"))
    return [["".join(map(str, cell.itertext())).strip() for cell in row] for row in rows]


FIELD_GRADES = FieldGrades(_wrong, _graded)
