"""Options of benchmarks, among them those that name an LLM judge or a matcher of facts.

The matchers load numerical libraries; their names do not.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from .items import Options

if TYPE_CHECKING:
    from scoring.judge.questions import PromptSet


class OptionError(ValueError):
    """An unknown option or an invalid value; the message names both."""


@dataclass(frozen=True)
class Option:
    """An option: its name, its default, and either the allowed values or a function that makes a
    value canonical."""

    name: str
    default: str
    choices: tuple[str, ...] = ()
    canonical: Callable[[object], str] | None = None

    def check(self, value: object) -> str:
        """Return the canonical form of a value. Raises OptionError."""
        if self.canonical is not None:
            return self.canonical(value)
        if value in self.choices:
            return str(value)
        allowed = " or ".join(self.choices)
        raise OptionError(f"option {self.name} must be {allowed}, not {value!r}")


# Readable names of options; without one, an option is shown by its own name.
_OPTION_TITLES = {
    "answer": "Answer",
    "labels": "Fact types",
    "beside": "Additional matchers",
    "text": "Compared text",
    "text_rules": "Rules of text metrics",
    "missing": "Missing predictions",
    "override": "Overruling the judge",
    "rules": "Rules",
    "units": "Text units",
    "mismatch": "Mismatched values",
    "semantic": "Semantic matcher",
    "embedding": "Embedding model",
}


def option_title(name: str) -> str:
    """Return the readable name of an option.

    >>> option_title("beside"), option_title("weights")
    ('Additional matchers', 'Weights')
    """
    return _OPTION_TITLES.get(name, name.replace("_", " ").capitalize())


def complete_options(options: tuple[Option, ...], raw: Mapping[str, object]) -> Options:
    """Return complete options in canonical form. Raises OptionError for unknown names and invalid
    values."""
    by_name = {option.name: option for option in options}
    for name in raw:
        if name not in by_name:
            near = get_close_matches(name, by_name, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(by_name)}"
            raise OptionError(f"there is no option {name!r}; {hint}")
    return {
        name: option.check(raw[name]) if name in raw else option.default
        for name, option in by_name.items()
    }


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


MOST_NAME = 100
# A judge in an option: its model at the endpoint and, in canonical form, its prompt.
_JUDGE = re.compile(
    rf"judge\((?P<model>[^\s,()|;]{{1,{MOST_NAME}}})(?:,\s*(?P<prompt>[^\s,()|;]+))?\)"
)


def read_judge(text: str, prompts: Callable[[str], str]) -> tuple[str, str] | None:
    """Return model and canonical form of `judge(MODEL)` or `judge(MODEL,PROMPT)`; None for anything
    else, including unknown prompts. `prompts` is `PromptSet.version_of`.

    >>> from scoring.judge.questions import FACT_PROMPTS
    >>> read_judge("judge(qwen3:32b)", FACT_PROMPTS.version_of)
    ('qwen3:32b', 'judge(qwen3:32b,facts-1)')
    >>> read_judge("judge(qwen3:32b,facts-0)", FACT_PROMPTS.version_of) is None
    True
    """
    match = _JUDGE.fullmatch(text.strip())
    version = prompts(match["prompt"] or "") if match else ""
    return (match["model"], f"judge({match['model']},{version})") if match and version else None


def judge_prompt(text: str) -> str:
    """Return the prompt's version in a judge's canonical form; empty for anything else.

    >>> judge_prompt("judge(qwen3:32b,facts-1)"), judge_prompt("aligned")
    ('facts-1', '')
    """
    match = _JUDGE.fullmatch(text)
    return (match["prompt"] or "") if match else ""


@dataclass(frozen=True)
class JudgeChoice:
    """The values of an option that names a judge with one of these prompts, or one of `others`."""

    option: str
    others: tuple[str, ...]
    prompts: "PromptSet"

    def canonical(self, value: object) -> str:
        """Return the canonical form of a value. Raises OptionError."""
        text = str(value).strip()
        if text in self.others:
            return text
        if judge := read_judge(text, self.prompts.version_of):
            return judge[1]
        raise OptionError(
            f"option {self.option} must be {', '.join(self.others)}, judge(MODEL) or "
            f"judge(MODEL,PROMPT) with {', '.join(self.prompts.shipped)} or "
            f"{self.prompts.kind}-published, not {value!r}"
        )

    def model(self, value: str) -> str:
        """Return the judge as its endpoint names it; empty for another value."""
        judge = read_judge(value, self.prompts.version_of)
        return judge[0] if judge else ""

    def lacking(self, value: str) -> str:
        """Return why the judge's prompt cannot be used here; empty if it can."""
        version = judge_prompt(value)
        return self.prompts.lacking(version) if version else ""

    def with_judge(self, raw: Mapping[str, object], model: str) -> dict[str, object]:
        """Return options with this judge; `prompt` in `raw` is the version of its prompt. Raises
        OptionError if they have the option already."""
        if self.option in raw:
            rest = "others" if len(self.others) > 1 else "other"
            raise OptionError(f"option {self.option} is the judge here; grade has the {rest}")
        others = {name: value for name, value in raw.items() if name != "prompt"}
        prompt = raw.get("prompt")
        return others | {self.option: f"judge({model},{prompt})" if prompt else f"judge({model})"}
