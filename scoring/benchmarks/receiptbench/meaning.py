"""Who decides whether two values of a semantic field mean the same."""

from scoring.benchmarks.base import OptionError, Options
from scoring.benchmarks.judging import read_judge
from scoring.judge.questions import FIELDS
from scoring.metrics.receipts import SEMANTIC_THRESHOLD

LEVENSHTEIN = "levenshtein"


def canonical_semantic(value: object) -> str:
    """Raises OptionError.

    >>> canonical_semantic("levenshtein"), canonical_semantic("judge(gpt-4o)")
    ('levenshtein', 'judge(gpt-4o,fields-1)')
    """
    text = str(value).strip()
    if text == LEVENSHTEIN:
        return text
    if judge := read_judge(text, FIELDS.version):
        return judge[1]
    raise OptionError(
        f"option semantic must be {LEVENSHTEIN} or judge(MODEL), which asks by {FIELDS.version}, "
        f"not {value!r}"
    )


def _decides(options: Options) -> str:
    # Gradings from before there was a choice do not say.
    return options.get("semantic", LEVENSHTEIN)


def judge_model(options: Options) -> str:
    """The judge that these options ask, as its endpoint names it; empty where they ask none.

    >>> judge_model({"semantic": "judge(gpt-4o,fields-1)"}), judge_model({})
    ('gpt-4o', '')
    """
    judge = read_judge(_decides(options), FIELDS.version)
    return judge[0] if judge else ""


def judge_name(options: Options) -> str:
    """As the signature calls whoever decides.

    >>> judge_name({}), judge_name({"semantic": "judge(gpt-4o,fields-1)"})
    ('levenshtein>=0.75', 'judge(gpt-4o,fields-1)')
    """
    name = _decides(options)
    return f"{LEVENSHTEIN}>={SEMANTIC_THRESHOLD}" if name == LEVENSHTEIN else name


def meaning_words(options: Options) -> str:
    """The same for readers."""
    if model := judge_model(options):
        return f"Meaning: the LLM judge {model} decides, asked by {FIELDS.version}."
    return f"Meaning: the same from a Levenshtein similarity of {SEMANTIC_THRESHOLD} on, no judge."
