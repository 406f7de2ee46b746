"""The options of ReceiptBench. They hold everything that can change a figure.

One of them chooses what decides whether two values of a semantic field mean the same.
"""

import re
from collections.abc import Mapping

from scoring.benchmarks.base import Option, OptionError, Options, complete_options
from scoring.benchmarks.judging import read_judge
from scoring.judge.questions import FIELDS
from scoring.metrics.receipt_values import WEIGHTS
from scoring.metrics.receipts import SEMANTIC_THRESHOLD

from .embedding import NAME, NO_EMBEDDING, Helpers

LEVENSHTEIN = "levenshtein"


def canonical_semantic(value: object) -> str:
    """Return the option's canonical form. Raises OptionError.

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
    # Old gradings do not have this option.
    return options.get("semantic", LEVENSHTEIN)


def judge_model(options: Options) -> str:
    """Return the judge in these options, as its endpoint names it; empty if none.

    >>> judge_model({"semantic": "judge(gpt-4o,fields-1)"}), judge_model({})
    ('gpt-4o', '')
    """
    judge = read_judge(_decides(options), FIELDS.version)
    return judge[0] if judge else ""


def judge_name(options: Options) -> str:
    """Return what decides about meaning, as the signature names it.

    >>> judge_name({}), judge_name({"semantic": "judge(gpt-4o,fields-1)"})
    ('levenshtein>=0.75', 'judge(gpt-4o,fields-1)')
    """
    name = _decides(options)
    return f"{LEVENSHTEIN}>={SEMANTIC_THRESHOLD}" if name == LEVENSHTEIN else name


def meaning_words(options: Options) -> str:
    """Describe the same for readers."""
    if model := judge_model(options):
        return f"Meaning: decided by the LLM judge {model} with {FIELDS.version}."
    return (
        f"Meaning: the same from a Levenshtein similarity of {SEMANTIC_THRESHOLD}, without a judge."
    )


_NAME = re.compile(NAME)
_PARTS = ("Levenshtein", "token sort", "LCS", "embedding")


def check_options(raw: Mapping[str, object], *, helpers: Helpers | None = None) -> Options:
    """Return complete, canonical options. Raises OptionError.

    Weights with a share for an embedding use the one that is set up, and are refused if there is
    none. Options may name an embedding that is not set up here, for example from gradings of
    another site; `lacking` reports that.

    >>> check_options({"mismatch": "fp"})["weights"]
    'C'
    """
    helpers = helpers or Helpers()
    options = complete_options(_options(helpers), raw)
    weights = options["weights"]
    if not WEIGHTS[weights].embedding:
        return options
    if "embedding" not in raw:
        options["embedding"] = helpers.embedding_name
    if options["embedding"] == NO_EMBEDDING:
        why = "option embedding is none" if "embedding" in raw else helpers.why_none
        raise OptionError(
            f"option weights: {weights} needs a sentence embedding ({why}); C does without"
        )
    return options


def _options(helpers: Helpers) -> tuple[Option, ...]:
    def canonical_embedding(value: object) -> str:
        """Return the option's canonical form. The embedding that is set up may be named without its
        hash."""
        text, known = str(value).strip(), helpers.embedding_name
        if text in {known, known.partition("@")[0]}:
            return known
        if text == NO_EMBEDDING or _NAME.fullmatch(text):
            return text
        there = f"or {known}" if helpers.embed else f"since {helpers.why_none}"
        raise OptionError(f"option embedding must be {NO_EMBEDDING}, {there}, not {value!r}")

    return (
        Option("weights", "C", choices=tuple(WEIGHTS)),
        Option("mismatch", "both", choices=("both", "fp")),
        Option("missing", "zero", choices=("zero", "skip")),
        Option("semantic", LEVENSHTEIN, canonical=canonical_semantic),
        Option("embedding", NO_EMBEDDING, canonical=canonical_embedding),
    )


def words(options: Options) -> tuple[str, ...]:
    """Describe what decides, for readers.

    >>> words(check_options({}))[0]
    'Lists: weights C (Levenshtein 0.4, token sort 0.3, LCS 0.3), no embedding.'
    """
    label, embedding = options["weights"], options.get("embedding", NO_EMBEDDING)
    shares = ", ".join(
        f"{name} {share}" for name, share in zip(_PARTS, WEIGHTS[label], strict=True) if share
    )
    used = "no embedding" if embedding == NO_EMBEDDING else f"sentence embedding {embedding}"
    return f"Lists: weights {label} ({shares}), {used}.", meaning_words(options)
