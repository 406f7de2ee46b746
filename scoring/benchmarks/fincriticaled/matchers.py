"""Which matchers decide: one by which the board ranks, others beside it."""

import re
from collections.abc import Mapping

from scoring.benchmarks.base import OptionError
from scoring.benchmarks.judging import read_judge
from scoring.benchmarks.matcher_names import NAMES, short_name
from scoring.judge.questions import FACTS
from scoring.metrics.facts import MATCHERS

# What a judge says of a whole page, by the names of its columns and of the page's result.
PAGE_SCORES = {"judge_structure": "structure_score", "judge_overall": "overall_score"}

# Commas stand between matchers, and inside the name of a judge.
_BETWEEN = re.compile(r",(?![^(]*\))")


def canonical_matcher(value: object) -> str:
    """Raises OptionError.

    >>> canonical_matcher("aligned"), canonical_matcher("judge(gpt-4o)")
    ('aligned', 'judge(gpt-4o,facts-1)')
    """
    text = str(value).strip()
    if text in MATCHERS:
        return text
    if judge := read_judge(text, FACTS.version):
        return judge[1]
    raise OptionError(
        f"option matcher must be {', '.join(MATCHERS)} or judge(MODEL), which asks by "
        f"{FACTS.version}, not {value!r}"
    )


def canonical_beside(value: object) -> str:
    """Matchers with commas between them, in the order of NAMES; raises OptionError.

    >>> canonical_beside("judge(gpt-4o), substring")
    'substring,judge(gpt-4o,facts-1)'
    """
    texts = [text for text in _BETWEEN.split(str(value)) if text.strip()]
    matchers = {short_name(each): each for each in map(canonical_matcher, texts)}
    if len(matchers) < len(texts):
        raise OptionError(f"option beside names a matcher, or a judge, twice: {value!r}")
    return ",".join(matchers[name] for name in NAMES if name in matchers)


def main_matcher(options: Mapping[str, str]) -> str:
    """The short name of the matcher that the board ranks by."""
    return short_name(options["matcher"])


def matchers_beside(options: Mapping[str, str]) -> tuple[str, ...]:
    """Short names of the others. Gradings from before there were any do not say."""
    beside = options.get("beside", "")
    return tuple(short_name(each) for each in _BETWEEN.split(beside) if each)


def check_pair(options: Mapping[str, str]) -> None:
    """Raises OptionError where the main matcher is among those beside it."""
    if main_matcher(options) in matchers_beside(options):
        raise OptionError(
            f"option beside names {main_matcher(options)}, which is the matcher already"
        )


def judge_model(options: Mapping[str, str]) -> str:
    """The judge that these options ask, as its endpoint names it; empty where they ask none.

    >>> judge_model({"matcher": "aligned", "beside": "substring,judge(gpt-4o,facts-1)"})
    'gpt-4o'
    """
    for each in _BETWEEN.split(f"{options['matcher']},{options.get('beside', '')}"):
        if judge := read_judge(each, FACTS.version):
            return judge[0]
    return ""


def beside_key(matcher: str) -> str:
    """The column of the accuracy by a matcher that stands beside the board's."""
    return f"ffa_by_{matcher}"
