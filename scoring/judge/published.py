"""The operator's folder of prompts in the words of papers, which are not shipped.

`judge/facts.md` and `judge/fields.md` are prompts of judges, `BENCHMARK/NAME.md` prompts of items.
Light enough to be imported when the site starts.
"""

from pathlib import Path

PUBLISHED = "published"
_folder: Path | None = None


def use_folder(folder: Path | None) -> None:
    """Set the folder; None for none."""
    global _folder  # noqa: PLW0603 - set once, when the process starts
    _folder = folder


def published_words(group: str) -> dict[str, str]:
    """Return the texts of a group, `judge` or a benchmark's key, by name."""
    files = sorted((_folder / group).glob("*.md")) if _folder else []
    return {file.stem: file.read_text(encoding="utf-8") for file in files}
