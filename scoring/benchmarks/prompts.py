"""Prompts for models, by benchmark: what to ask about an item.

`prompts/paper-1/` in a benchmark's folder has our own text after the rules of the paper. A prompt
in the words of the paper comes from the operator's folder, as the version `published`. Neither is
the prompt of an item, which comes with the data. In a text, `$question` is that prompt.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from scoring.judge.published import PUBLISHED, published_words

_FOLDER = Path(__file__).parent
# The places in the papers that the texts follow, by benchmark.
_SOURCES = {
    "fincriticaled": "FinCriticalED, sections 3.1 and 3.2, which give no prompt",
    "receiptbench": "ReceiptBench, tables 5 and 7",
    "fcmbench": "FCMBench, section 3.2; each item has its own question",
    "ccocr": "CC-OCR, appendix A.3; many items have a prompt of their own",
    "findoc": "financial-document-accuracy, README",
}


@dataclass(frozen=True)
class ItemPrompt:
    """A prompt: its version, its name (`item`, or the kind of item), its text and its source."""

    version: str
    name: str
    text: str
    source: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def item_prompts(benchmark: str) -> tuple[ItemPrompt, ...]:
    """Return the prompts of a benchmark, by version and name; none for an unknown one."""
    source = _SOURCES.get(benchmark, "")
    shipped = tuple(
        ItemPrompt(file.parent.name, file.stem, file.read_text(encoding="utf-8"), source)
        for file in sorted((_FOLDER / benchmark / "prompts").glob("*/*.md"))
    )
    published = tuple(
        ItemPrompt(PUBLISHED, name, text, "the paper's own words, given by the site's operator")
        for name, text in published_words(benchmark).items()
    )
    return shipped + published
