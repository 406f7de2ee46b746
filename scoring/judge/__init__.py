"""The LLM judge: a language model decides about facts and fields, and its answers are checked.

`items` makes questions from the prompts in `questions`, `asking` answers each of them once through
`client` and a cache, `checks` compares the answers with gold and prediction. Without Django. See
docs/judge.md.
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
