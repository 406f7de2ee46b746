"""The options of financial document accuracy: all that can change a figure."""

from collections.abc import Mapping
from functools import partial

from scoring.benchmarks.base import OptionError, Options
from scoring.benchmarks.options import Option, complete_options
from scoring.metrics.document_accuracy import DISCLOSURES, SECTIONS, normalize_text

_MOST_PHRASES = 50
_LONGEST_PHRASE = 200
# A bar would make signatures ambiguous, a comma the list itself.
_RESERVED = ("|", ",")


def canonical_phrases(value: object, *, option: str) -> str:
    """Phrases in lower case, white space collapsed, joined by commas, from a list or such a text.

    Each counts once; their order changes no figure and is not kept. None at all gives the empty
    text. Raises OptionError.

    >>> canonical_phrases("Cash  Flow, Auditor", option="sections")
    'auditor,cash flow'
    """
    if isinstance(value, str):
        raw = value.split(",")
    elif isinstance(value, list | tuple) and all(isinstance(phrase, str) for phrase in value):
        raw = list(value)
    else:
        raise OptionError(f"option {option} must be phrases joined by commas, not {value!r}")
    phrases = sorted({normalize_text(phrase) for phrase in raw} - {""})
    if any(mark in phrase for phrase in phrases for mark in _RESERVED):
        raise OptionError(f"option {option}: a phrase holds no comma and no bar")
    if any(len(phrase) > _LONGEST_PHRASE or not phrase.isprintable() for phrase in phrases):
        raise OptionError(
            f"option {option}: a phrase has at most {_LONGEST_PHRASE} printable characters"
        )
    if len(phrases) > _MOST_PHRASES:
        raise OptionError(f"option {option}: more than {_MOST_PHRASES} phrases")
    return ",".join(phrases)


def phrases_of(options: Options, option: str) -> tuple[str, ...]:
    """The phrases that checked options name."""
    return tuple(filter(None, options[option].split(",")))


_sections = partial(canonical_phrases, option="sections")
_disclosures = partial(canonical_phrases, option="disclosures")

OPTIONS = (
    Option("matching", "exact", choices=("exact", "substring")),
    Option("sections", _sections(SECTIONS), canonical=_sections),
    Option("disclosures", _disclosures(DISCLOSURES), canonical=_disclosures),
    Option("missing", "zero", choices=("zero", "skip")),
)


def check_options(raw: Mapping[str, object]) -> Options:
    """Complete, canonical options; raises OptionError.

    >>> check_options({"sections": ["Notes"], "matching": "substring"})["sections"]
    'notes'
    """
    return complete_options(OPTIONS, raw)
