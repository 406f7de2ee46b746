"""A long-running Python process with Django set up, so that each call need not start Django."""

import io
import json
import subprocess
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import IO, cast

from tests.jobs.processes import ROOT, Env

MODULE = "tests.e2e.interpreter"


class Interpreter:
    """Runs pieces of code in a separate process, one at a time."""

    def __init__(self, env: Env, log: Path) -> None:
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE],
                cwd=ROOT,
                env=env,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
            )

    def run(self, code: str) -> str:
        """Returns what the code printed. If the code raises, fails with its traceback."""
        questions, answers = cast("IO[str]", self._process.stdin), self._process.stdout
        questions.write(json.dumps(code) + "\n")
        questions.flush()
        line = cast("IO[str]", answers).readline()
        assert line, f"the interpreter ended with {self._process.wait(timeout=10)}"
        answer = json.loads(line)
        assert not answer["error"], answer["error"]
        return str(answer["printed"])

    def close(self) -> None:
        self._process.communicate(timeout=30)


def _answer(code: str) -> dict[str, str]:
    printed, error = io.StringIO(), ""
    try:
        with redirect_stdout(printed):
            exec(compile(code, "<code>", "exec"), {"__name__": "code"})
    except Exception:
        error = traceback.format_exc()
    return {"printed": printed.getvalue(), "error": error}


def main() -> None:
    import django
    from django.db import close_old_connections

    django.setup()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_answer(json.loads(line))) + "\n")
        sys.stdout.flush()
        close_old_connections()


if __name__ == "__main__":
    main()
