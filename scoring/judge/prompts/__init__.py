"""The prompts: versioned files beside this one.

A prompt that was used is never changed: another wording is another file with the next number,
since the version stands in signatures and in the keys of kept verdicts.
"""

from dataclasses import dataclass
from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Prompt:
    """What a judge is told; `version` is the file's name, such as facts-1."""

    version: str
    template: Template

    def text(self, boundary: str) -> str:
        return self.template.substitute(boundary=boundary)


def load_prompt(version: str) -> Prompt:
    """The prompt of a version; raises FileNotFoundError."""
    return Prompt(version, Template((_FOLDER / f"{version}.md").read_text(encoding="utf-8")))


FACTS = load_prompt("facts-1")
FIELDS = load_prompt("fields-1")
