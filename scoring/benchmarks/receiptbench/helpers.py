"""Models that the protocol may use beside what is here."""

from dataclasses import dataclass

from scoring.benchmarks.base import OptionError, Options
from scoring.metrics.receipt_lists import Embedding

NO_EMBEDDING = "none"


@dataclass(frozen=True)
class Helpers:
    """An embedding of texts, and how options and signatures call it; `why_none` says why there is
    no other. It must be deterministic, and picklable to be used by many processes."""

    embed: Embedding | None = None
    embedding_name: str = NO_EMBEDDING
    why_none: str = "EMBEDDING_MODEL is not set"


def lacking(options: Options, *, helpers: Helpers) -> str:
    """What these options need and is not set up here; empty if there is nothing."""
    name = options.get("embedding", NO_EMBEDDING)
    if name in {NO_EMBEDDING, helpers.embedding_name}:
        return ""
    there = helpers.embedding_name if helpers.embed else helpers.why_none
    return f"option embedding: {name} is not set up here ({there})"


def embedding_for(options: Options, helpers: Helpers) -> Embedding | None:
    """The embedding that these options name, if they name one; raises OptionError where it is
    another than the one that is set up. Results from before there was a choice name none."""
    if problem := lacking(options, helpers=helpers):
        raise OptionError(problem)
    is_used = options.get("embedding", NO_EMBEDDING) != NO_EMBEDDING
    return helpers.embed if is_used else None
