"""Runs LaTeX on a text in a plain article."""

import re
import subprocess
from pathlib import Path

_ARTICLE = r"""\documentclass{article}
\usepackage{array,booktabs}
\begin{document}
Text.

%s
\end{document}
"""


def complaints(text: str, folder: Path) -> list[str]:
    """Returns errors and overfull lines from the LaTeX log. Writes `table.pdf` to the folder."""
    (folder / "table.tex").write_text(_ARTICLE % text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", "table.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    log = done.stdout.decode(errors="replace")
    assert "Output written on table.pdf" in log, log[-2_000:]
    return re.findall(r"^(?:!.*|Overfull \\hbox.*)$", log, flags=re.MULTILINE)
