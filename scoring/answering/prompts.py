"""The text of each item's request: a prompt of the benchmark, or of one's own, with the item's
question in it.

In a text, `$question` is the item's question and `$language` the option of that name.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scoring.benchmarks import ItemPrompt, item_prompts
from scoring.offline.terminal import BadInput

from .manifest import Prompt

DEFAULT, OWN, FILE = "paper-1", "own", "file"
QUESTION = "$question"
# The name of the prompt for all items of a benchmark without kinds.
ITEM = "item"
# The name of the system prompt in a manifest.
SYSTEM = "system"


class PromptError(BadInput):
    """There is no such prompt, or an item lacks what the prompt needs."""


@dataclass(frozen=True)
class PromptSet:
    """The prompts of one version by name: one for all items (`item`), or one for each kind of item.

    The version `own` has none: the question of each item is its whole prompt.
    """

    version: str
    texts: dict[str, str]
    language: str = ""

    def text(self, question: str, kind: str) -> str:
        """The request for an item. An item of another kind is asked with its question alone.

        >>> PromptSet("v1", {"kie": "$question As JSON."}).text("Which shop?", "kie")
        'Which shop? As JSON.'
        """
        template = self.texts.get(kind) or self.texts.get(ITEM) or QUESTION
        if QUESTION in template and not question.strip():
            raise PromptError(
                f"has no question, but the prompt {self.version} requires one; use your own "
                "prompt with --prompt-file"
            )
        # Not string.Template: a prompt may contain amounts such as $1,204.
        return template.replace("$language", self.language).replace(QUESTION, question).strip()

    def manifest(self) -> tuple[Prompt, ...]:
        return tuple(
            Prompt(version=self.version, name=name, sha256=sha256(text), text=text)
            for name, text in sorted(self.texts.items())
        )

    @property
    def digest(self) -> str:
        """One hash over everything that can change a request."""
        parts = [self.version, self.language, *(f"{k}\0{v}" for k, v in sorted(self.texts.items()))]
        return sha256("\0".join(parts))


def system_prompts(version: str, text: str) -> tuple[Prompt, ...]:
    """The system prompt as a part of the manifest; nothing without one."""
    if not text:
        return ()
    return (Prompt(version=version, name=SYSTEM, sha256=sha256(text), text=text),)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def named_prompts(
    benchmark: str, version: str, pinned: Iterable[ItemPrompt] = (), language: str = ""
) -> PromptSet:
    """The prompts of a version, as a release pins them, else as they are shipped."""
    if version == OWN:
        return PromptSet(OWN, {}, language)
    known = {(prompt.version, prompt.name): prompt.text for prompt in item_prompts(benchmark)}
    known |= {(prompt.version, prompt.name): prompt.text for prompt in pinned}
    texts = {name: text for (listed, name), text in known.items() if listed == version}
    if not texts:
        versions = ", ".join(sorted({listed for listed, _ in known} | {OWN}))
        raise PromptError(f"{benchmark} has no prompt {version!r}; choose from {versions}")
    return PromptSet(version, texts, language)


def check_asks(prompts: PromptSet, benchmark: str, kinds: Iterable[str]) -> None:
    """Raises PromptError for a text of one's own without `$question`, if items of these kinds have
    questions of their own: the model would not see what it is asked.

    They have if the benchmark's own prompt contains `$question`.
    """
    if prompts.version != FILE or QUESTION in prompts.texts[ITEM]:
        return
    asking = {
        p.name for p in item_prompts(benchmark) if p.version == DEFAULT and QUESTION in p.text
    }
    if asking & {ITEM, *kinds}:
        raise PromptError(
            f"the prompt does not contain $question, so the model would not see the questions of "
            f"{benchmark}; add $question"
        )


def prompt_of_file(path: Path, language: str = "") -> PromptSet:
    """One's own text, for items of every kind."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"{path}: cannot be read: {error}") from error
    if not text.strip():
        raise PromptError(f"{path}: is empty")
    return PromptSet(FILE, {ITEM: text}, language)
