"""Writes the locked requirement files from the .in files.

The locks carry hashes and no index host, so that they install from any mirror. `dev` is resolved
first and binds `base` and the extras `semantic` and `sample`, so that all environments hold the
same versions. `extras` and Label Studio have their own environments and are resolved alone.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
OPTIONS = [
    "--quiet",
    "--generate-hashes",
    "--allow-unsafe",
    # With the extras stripped, pip may choose a newer, unpinned version of `coverage[toml]`.
    "--no-strip-extras",
    "--no-header",
    "--no-annotate",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--no-emit-trusted-host",
    "--no-emit-options",
]


def lock(name: str, *constraints: str) -> None:
    """Resolves requirements/NAME.in into requirements/NAME.txt."""
    command = [sys.executable, "-m", "piptools", "compile", *OPTIONS, *constraints]
    subprocess.run(  # noqa: S603  our own arguments
        [*command, "--output-file", f"{name}.txt", f"{name}.in"], cwd=HERE, check=True
    )


def pins(name: str) -> str:
    """The `package==version` lines of a lock, without extras and hashes, for a constraint file."""
    lines = (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    pinned = (line.split()[0] for line in lines if "==" in line and line[0].isalnum())
    return "\n".join(re.sub(r"\[.*?\]", "", pin) for pin in pinned)


def main() -> None:
    lock("dev")
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as constraints:
        constraints.write(pins("dev") + "\n")
        constraints.flush()
        for name in ("base", "semantic", "sample"):
            lock(name, "--constraint", constraints.name)
    lock("extras")
    lock("label-studio")


if __name__ == "__main__":
    main()
