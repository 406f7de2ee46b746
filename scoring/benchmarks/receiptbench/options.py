"""The options of ReceiptBench. They hold everything that can change a figure."""

import re
from collections.abc import Mapping

from scoring.benchmarks.items import Options
from scoring.benchmarks.options import (
    JudgeChoice,
    Option,
    OptionError,
    complete_options,
    judge_prompt,
)
from scoring.judge.questions import FIELD_PROMPTS
from scoring.metrics.receipts import SEMANTIC_THRESHOLD
from scoring.metrics.receipts.amounts import Read, read_amount, read_amount_as_published
from scoring.metrics.receipts.values import WEIGHTS

from .embedding import NAME, NO_EMBEDDING, Helpers
from .embedding import lacking as embedding_lacking

LEVENSHTEIN = "levenshtein"
# Decides whether two values of a semantic field mean the same.
SEMANTIC = JudgeChoice("semantic", (LEVENSHTEIN,), FIELD_PROMPTS)
# Amounts are read by their value, or by the published cleaning.
VALUE, REFERENCE = "value", "reference"
_READERS: dict[str, Read] = {VALUE: read_amount, REFERENCE: read_amount_as_published}
_AMOUNT_WORDS = {
    VALUE: "Amounts are read in any notation, such as 1.000,00 or (79.33).",
    REFERENCE: "Amounts are read by the published rule, which removes $, commas and spaces.",
}


def reader_of(options: Options) -> Read:
    """Return how amounts are read. Old gradings do not have this option."""
    return _READERS[options.get("amounts", VALUE)]


def _decides(options: Options) -> str:
    # Old gradings do not have this option.
    return options.get("semantic", LEVENSHTEIN)


def judge_model(options: Options) -> str:
    """Return the judge in these options, as its endpoint names it; empty if none.

    >>> judge_model({"semantic": "judge(gpt-4o,fields-1)"}), judge_model({})
    ('gpt-4o', '')
    """
    return SEMANTIC.model(_decides(options))


def judge_version(options: Options) -> str:
    """Return the version of the judge's prompt in these options; empty if there is no judge."""
    return judge_prompt(_decides(options))


def judge_name(options: Options) -> str:
    """Return what decides about meaning, as the signature names it.

    >>> judge_name({}), judge_name({"semantic": "judge(gpt-4o,fields-1)"})
    ('levenshtein>=0.75+facts+words', 'judge(gpt-4o,fields-1)')
    """
    name = _decides(options)
    return f"{LEVENSHTEIN}>={SEMANTIC_THRESHOLD}+facts+words" if name == LEVENSHTEIN else name


def meaning_words(options: Options) -> str:
    """Describe the same for readers."""
    if model := judge_model(options):
        return (
            f"Semantic fields: the LLM judge {model} with {judge_version(options)} decides whether "
            "two values mean the same."
        )
    return (
        "Semantic fields: two values mean the same if their Levenshtein similarity is at least "
        f"{SEMANTIC_THRESHOLD} and their dates, times, numbers, identifiers and words match."
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
            f"option weights: {weights} needs a sentence embedding ({why}); C does not"
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
        Option("amounts", VALUE, choices=tuple(_READERS)),
        Option("mismatch", "both", choices=("both", "fp")),
        Option("missing", "zero", choices=("zero", "skip")),
        Option("semantic", LEVENSHTEIN, canonical=SEMANTIC.canonical),
        Option("embedding", NO_EMBEDDING, canonical=canonical_embedding),
    )


# Rules that the paper leaves open.
_RULES = ("lists:most-accepted", "no-answer:no-tn", "accuracy:(tp+tn)/all")


def signed(options: Options) -> tuple[str, ...]:
    """Return the parts of the signature.

    >>> signed(check_options({}))[:2]
    ('weights:C', 'amounts:value')
    """
    chosen = (f"{name}:{options[name]}" for name in ("weights", "amounts", "mismatch", "missing"))
    embedding = options.get("embedding", NO_EMBEDDING)
    return (*chosen, f"judge:{judge_name(options)}", f"embedding:{embedding}", *_RULES)


def lacking(options: Options, *, helpers: Helpers) -> str:
    """Return the embedding or the judge's prompt that these options need and that is not set up
    here; empty if none."""
    return embedding_lacking(options, helpers=helpers) or SEMANTIC.lacking(_decides(options))


def words(options: Options) -> tuple[str, ...]:
    """Describe what decides, for readers.

    >>> words(check_options({}))[0]
    'Lists: matched with weights C (Levenshtein 0.4, token sort 0.3, LCS 0.3), no embedding.'
    """
    label, embedding = options["weights"], options.get("embedding", NO_EMBEDDING)
    shares = ", ".join(
        f"{name} {share}" for name, share in zip(_PARTS, WEIGHTS[label], strict=True) if share
    )
    used = "no embedding" if embedding == NO_EMBEDDING else f"sentence embedding {embedding}"
    return (
        f"Lists: matched with weights {label} ({shares}), {used}.",
        _AMOUNT_WORDS[options.get("amounts", VALUE)],
        meaning_words(options),
    )
