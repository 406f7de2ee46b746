"""The page of benchmark figures: one section per table, each with its date and its code.

A section names the folders whose code decides its figures. Their hash is written under the heading,
so that the page itself can say which figures are older than the code they are about.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Suffixes of files that are imported, rendered or run. Texts and images do not affect figures.
SUFFIXES = {".py", ".html", ".js", ".css", ".toml"}
OLDER = " **Older than the code.**"
_STAMP = re.compile(r"^Measured on (?P<day>\S+) on (?P<machine>.+) \(code (?P<code>\w+)\)\.")


@dataclass(frozen=True)
class Section:
    """One table or more under a heading.

    `parts` are the names by which `make bench` measures it, alone or together; `body` returns its
    lines for some of them. `code` are files and folders below the root of the project.
    """

    title: str
    parts: Collection[str]
    body: Callable[[Collection[str]], Iterable[str]]
    code: Collection[str]

    def lines(self, parts: Collection[str], *, day: str, machine: str) -> Iterator[str]:
        """The section with these of its parts, each line as soon as it is measured."""
        yield ""
        yield f"## {self.title}"
        yield ""
        yield f"Measured on {day} on {machine} (code {self.fingerprint()})."
        yield ""
        yield from self.body(parts)

    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that change with any file of the section's code."""
        digest = hashlib.sha256()
        for path in sorted(_files(self.code)):
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
        return digest.hexdigest()[:12]


def _files(code: Collection[str]) -> Iterator[Path]:
    for name in code:
        place = ROOT / name
        if place.is_file():
            yield place
            continue
        found = [path for path in place.rglob("*") if path.suffix in SUFFIXES]
        if not found:
            raise ValueError(f"{name}: a section of the benchmark page names no code")
        yield from found


def replaced(page: str, title: str, lines: Iterable[str]) -> str:
    """The page with this section's lines in place of its former ones, or at the end.

    `lines` begin with an empty one and the heading, as `Section.lines` yields them.
    """
    new = "\n".join(lines).strip("\n")
    heading = re.escape(f"## {title}\n")
    pattern = re.compile(rf"^{heading}.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    if not pattern.search(page):
        return f"{page.rstrip()}\n\n{new}\n"
    return pattern.sub(lambda _: f"{new}\n\n", page).rstrip() + "\n"


def marked(page: str, sections: Iterable[Section]) -> str:
    """The page with every section marked whose code has changed since it was measured.

    Raises ValueError for a section of the page that says nothing of when it was measured.
    """
    known = {section.title: section for section in sections}
    title, lines, stamped = "", [], set()
    for line in page.splitlines():
        if line.startswith("## "):
            title = line.removeprefix("## ")
        if (stamp := _STAMP.match(line)) and title in known:
            stamped.add(title)
            is_older = stamp["code"] != known[title].fingerprint()
            line = stamp[0] + (OLDER if is_older else "")
        lines.append(line)
    if missing := sorted(known.keys() - stamped):
        raise ValueError(f"no date and code under the heading of: {', '.join(missing)}")
    return "\n".join(lines) + "\n"
