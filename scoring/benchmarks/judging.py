"""How an LLM judge takes part in a benchmark, and the names of fact matchers.

This module sends no requests: an item determines the questions, and the answers are data, like the
prediction. So a score is a pure function of all three. The matchers load numerical libraries; their
names do not.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scoring.judge.questions import Question


JUDGE = "judge"
# In display order.
TITLES = {"aligned": "Aligned", "substring": "Substring", JUDGE: "LLM judge"}
NAMES = tuple(TITLES)


def short_name(matcher: str) -> str:
    """Return the matcher's name without the judge's settings.

    >>> short_name("substring"), short_name("judge(gpt-4o,facts-1)")
    ('substring', 'judge')
    """
    return matcher.partition("(")[0]


# The same types as in `base`, which imports this module.
_Payload = dict[str, Any]
_ItemResult = dict[str, Any]
_Options = dict[str, str]

MOST_NAME = 100
# A judge in an option: its model at the endpoint and, in canonical form, its prompt.
_JUDGE = re.compile(
    rf"judge\((?P<model>[^\s,()|;]{{1,{MOST_NAME}}})(?:,\s*(?P<prompt>[^\s,()|;]+))?\)"
)


Reading = Callable[[_ItemResult, _Options], _ItemResult | None]


def no_version(options: _Options) -> str:  # noqa: ARG001 - it is part of the signature only
    return ""


def no_facts(
    result: _ItemResult,  # noqa: ARG001 - of a benchmark without facts
    options: _Options,  # noqa: ARG001
) -> _ItemResult | None:
    return None


@dataclass(frozen=True)
class Judging:
    """The functions of a benchmark that a judge needs.

    - `model(options)`: the judge as its endpoint names it; empty if these options use none.
    - `options(raw, model)`: complete options under which this judge decides; raises OptionError.
    - `questions(gold, prediction, options)`: the questions about an item, in order.
    - `score_item(gold, prediction, options, answers)`: the same result as the benchmark's own
      function, from the answers to these questions, in their order.
    - `summary(results)`: figures of the judge over all items, in addition to the benchmark's.
    - `version(options)`: what determines the verdicts of this judge, its model and its prompt.
    - `by_judge(result, options)`, `by_matcher(result, options)`: the result with the facts decided
      by the judge, or by a matcher without a judge; None if it has no such decisions.
    """

    model: Callable[[_Options], str]
    options: Callable[[Mapping[str, object], str], _Options]
    questions: Callable[[_Payload, _Payload | None, _Options], "Sequence[Question[Any]]"]
    score_item: Callable[[_Payload, _Payload | None, _Options, Sequence[Any]], _ItemResult]
    summary: Callable[[Iterable[_ItemResult]], dict[str, Any]]
    version: Callable[[_Options], str] = no_version
    by_judge: Reading = no_facts
    by_matcher: Reading = no_facts


def read_judge(text: str, prompts: Callable[[str], str]) -> tuple[str, str] | None:
    """Return model and canonical form of `judge(MODEL)` or `judge(MODEL,PROMPT)`; None for anything
    else, including unknown prompts. `prompts` is `PromptSet.version_of`.

    >>> from scoring.judge.questions import FACT_PROMPTS
    >>> read_judge("judge(qwen3:32b)", FACT_PROMPTS.version_of)
    ('qwen3:32b', 'judge(qwen3:32b,facts-1)')
    >>> read_judge("judge(qwen3:32b,facts-0)", FACT_PROMPTS.version_of) is None
    True
    """
    found = _JUDGE.fullmatch(text.strip())
    version = prompts(found["prompt"] or "") if found else ""
    return (found["model"], f"judge({found['model']},{version})") if found and version else None


def judge_prompt(text: str) -> str:
    """Return the prompt's version in a judge's canonical form; empty for anything else.

    >>> judge_prompt("judge(qwen3:32b,facts-1)"), judge_prompt("aligned")
    ('facts-1', '')
    """
    found = _JUDGE.fullmatch(text)
    return (found["prompt"] or "") if found else ""


def named_judge(model: str, prompt: object) -> str:
    """Return a judge as an option; an empty prompt is the default."""
    return f"judge({model},{prompt})" if prompt else f"judge({model})"
