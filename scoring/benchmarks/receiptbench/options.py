"""The options of ReceiptBench: all that can change a figure."""

import re
from collections.abc import Mapping

from scoring.benchmarks.base import OptionError, Options
from scoring.benchmarks.embedding import NAME
from scoring.benchmarks.options import Option, complete_options
from scoring.metrics.receipt_lists import WEIGHTS

from .helpers import NO_EMBEDDING, Helpers
from .meaning import LEVENSHTEIN, canonical_semantic, meaning_words

_NAME = re.compile(NAME)
_PARTS = ("Levenshtein", "token sort", "LCS", "embedding")


def check_options(raw: Mapping[str, object], *, helpers: Helpers | None = None) -> Options:
    """Complete, canonical options; raises OptionError.

    Weights with a share for an embedding take the one that is set up, and are refused where there
    is none. An embedding may be named that is not set up here, as where others graded with it;
    `lacking` tells.

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
        """The name of the one that is set up may be said without its hash."""
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
    """What decides, for readers.

    >>> words(check_options({}))[0]
    'Lists: weights C (Levenshtein 0.4, token sort 0.3, LCS 0.3), no embedding.'
    """
    label, embedding = options["weights"], options.get("embedding", NO_EMBEDDING)
    shares = ", ".join(
        f"{name} {share}" for name, share in zip(_PARTS, WEIGHTS[label], strict=True) if share
    )
    used = "no embedding" if embedding == NO_EMBEDDING else f"sentence embedding {embedding}"
    return f"Lists: weights {label} ({shares}), {used}.", meaning_words(options)
