"""Runs LaTeX on a text in a plain article."""

import re
import subprocess
from pathlib import Path

_ARTICLE = r"""\documentclass[OPTIONS]{article}
\usepackage{array,booktabs}
\begin{document}
Text.

CONTENT
\end{document}
"""


def complaints(text: str, folder: Path, *, options: str = "") -> list[str]:
    """Returns errors, overfull lines and floats longer than a page from the LaTeX log.
    Writes `table.pdf` to the folder. `options` are those of the article, such as `twocolumn`."""
    article = _ARTICLE.replace("OPTIONS", options).replace("CONTENT", text)
    (folder / "table.tex").write_text(article, encoding="utf-8")
    log = _run(["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", "table.tex"], folder)
    assert "Output written on table.pdf" in log, log[-2_000:]
    return re.findall(r"^(?:!.*|Overfull \\hbox.*|.*Float too large.*)$", log, flags=re.MULTILINE)


def bibtex_complaints(entries: str, folder: Path) -> list[str]:
    """Returns what BibTeX and LaTeX report about an article that cites all entries, printed in the
    style `plain`. BibTeX warns of missing fields too."""
    (folder / "cited.bib").write_text(entries, encoding="utf-8")
    cites = "\\nocite{*}\n\\bibliographystyle{plain}\n\\bibliography{cited}"
    complaints(cites, folder)
    log = _run(["bibtex", "table"], folder)
    found = re.findall(r"^(?:Warning.*|.*error message.*|I .*)$", log, flags=re.MULTILINE)
    return found + complaints(cites, folder)


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    return done.stdout.decode(errors="replace")
