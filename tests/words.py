"""Plain English: the words of `docs/words.toml` in templates, docs, comments and messages.

    python -m tests.words               # list every place; exit 1 if there is one
    python -m tests.words PATH…         # only below these paths
    python -m tests.words --count       # occurrences per 10,000 words

It reads the text of templates, Markdown outside code, comments and docstrings of Python and
JavaScript, and Python strings of two or more words. In tests it reads only comments and docstrings.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RULES = "docs/words.toml"
# Not prose: the sample’s documents, recorded figures, and the rules themselves. Used prompts of the
# judge never change.
LEFT_OUT = (
    "sample/",
    "docs/words.toml",
    "scoring/judge/prompts/",
    "requirements/",
    "tests/js/",
    "static/vendor/",
)


@dataclass(frozen=True)
class Rule:
    pattern: re.Pattern[str]
    allowed: re.Pattern[str] | None
    write: str


@dataclass(frozen=True)
class Text:
    """A piece of prose, and its first line in the file."""

    path: str
    line: int
    words: str


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    found: str
    rule: Rule

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: “{self.found}”: write {self.rule.write}"


def rules() -> list[Rule]:
    listed = tomllib.loads((ROOT / RULES).read_text(encoding="utf-8"))
    found = []
    for entry in listed["word"]:
        allowed = "|".join(entry.get("allow", []))
        found.append(
            Rule(
                re.compile(rf"\b({entry['match']})\b", re.IGNORECASE),
                re.compile(rf"\b({allowed})\b", re.IGNORECASE) if allowed else None,
                entry["write"],
            )
        )
    for entry in listed["opening"]:
        # Exclude questions: the sentence must end with a full stop or with the text.
        opening = rf"(?:^|(?<=[.:;!?]\s)|(?<=\n\n))({entry['match']}) (?=[^.?!]*(?:[.!]|$))"
        found.append(Rule(re.compile(opening), None, entry["write"]))
    return found


def python_texts(path: str, source: str, *, strings: bool) -> Iterator[Text]:
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and ast.get_docstring(node) is not None
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        if id(node) in docstrings:
            yield Text(path, node.lineno, _without_code(_without_doctests(node.value)))
        elif strings and re.search(r"[A-Za-z]\s+[A-Za-z]", node.value):
            yield Text(path, node.lineno, _without_code(node.value))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(path, token.start[0], _without_code(token.string.lstrip("# ")))


def template_texts(path: str, source: str) -> Iterator[Text]:
    """Yields text and comments without tags, and attributes that users see or hear."""
    shown = r'(?:title|alt|placeholder|aria-label|summary|value|label)="([^"<>]*[a-z] [^"<>]*)"'
    for number, line in enumerate(source.splitlines(), 1):
        attributes = " ".join(re.findall(shown, line))
        words = re.sub(r"<[^>]*>|\{%.*?%\}|\{\{.*?\}\}", " ", line)
        yield Text(path, number, f"{words} {attributes}".strip())


def markdown_texts(path: str, source: str) -> Iterator[Text]:
    in_code = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield Text(path, number, _without_code(re.sub(r"\]\([^)]*\)", "]", line)))


def script_texts(path: str, source: str) -> Iterator[Text]:
    for number, line in enumerate(source.splitlines(), 1):
        comment = re.search(r"(?:^|\s)(?://|/?\*)\s?(.*)", line)
        strings = re.findall(r"[\"'`]([^\"'`]*[A-Za-z] [a-z][^\"'`]*)[\"'`]", line)
        yield Text(path, number, " ".join([comment[1] if comment else "", *strings]))


def _without_code(text: str) -> str:
    return re.sub(r"`[^`]*`", "`", text)


def _without_doctests(text: str) -> str:
    return re.sub(r"^\s*>>>.*?(?=\n\s*\n|\Z)", "", text, flags=re.DOTALL | re.MULTILINE)


def texts(only: list[str]) -> Iterator[Text]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *only]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    for path in listed.stdout.splitlines():
        if path.startswith(LEFT_OUT) or not (ROOT / path).is_file():
            continue
        suffix = Path(path).suffix
        if suffix not in (".py", ".html", ".md", ".js", ".mjs", ".txt"):
            continue
        source = (ROOT / path).read_text(encoding="utf-8")
        if suffix == ".py" and "/migrations/" not in path:
            yield from python_texts(path, source, strings=not path.startswith("tests/"))
        elif suffix in (".html", ".txt"):
            yield from template_texts(path, source)
        elif suffix == ".md":
            yield from markdown_texts(path, source)
        elif suffix in (".js", ".mjs"):
            yield from script_texts(path, source)


def findings_in(text: Text, checked: list[Rule]) -> Iterator[Finding]:
    for rule in checked:
        allowed = (
            [found.span() for found in rule.allowed.finditer(text.words)] if rule.allowed else []
        )
        for found in rule.pattern.finditer(text.words):
            if not any(start <= found.start() and found.end() <= end for start, end in allowed):
                line = text.line + text.words.count("\n", 0, found.start())
                yield Finding(text.path, line, found[1], rule)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", help="only files below these paths")
    parser.add_argument("--count", action="store_true", help="occurrences per 10,000 words")
    given = parser.parse_args()
    checked, read = rules(), list(texts(given.paths))
    found = [finding for text in read for finding in findings_in(text, checked)]
    if given.count:
        words = sum(len(text.words.split()) for text in read)
        counts = Counter(finding.rule.pattern.pattern for finding in found)
        for pattern, number in counts.most_common():
            sys.stdout.write(f"{10_000 * number / words:6.1f}  {number:5}  {pattern}\n")
        sys.stdout.write(f"{words} words\n")
        return 0
    for finding in found:
        sys.stdout.write(f"{finding}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
