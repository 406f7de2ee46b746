"""From an OCR engine to a row: the command line against a real site."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import require_program

from .site import Site

pytestmark = [pytest.mark.processes, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
SHIPPED = "Tesseract 5, layout"
TOKEN = """
import json
from portal.accounts.models import User
from portal.accounts.access import issue_token
user = User.objects.get(email="researcher@factboard.example")
print(json.dumps(issue_token(user=user, name="e2e")[1]))
"""


def test_tesseract_gets_the_row_that_is_shipped(tmp_path: Path) -> None:
    require_program("tesseract")
    with Site(tmp_path / "site") as site:
        site.folder.mkdir()
        site.prepare(sample=True)
        token = site.shell(TOKEN)
        site.start()

        def factboard(*words: str) -> str:
            return subprocess.run(
                [sys.executable, "-m", "factboard", *words],
                cwd=ROOT,
                env=site.env | {"FACTBOARD_SITE": site.url, "FACTBOARD_TOKEN": token},
                capture_output=True,
                text=True,
                check=True,
                timeout=300,
            ).stdout

        out = tmp_path / "run"
        factboard("run", "sample", "--engine", "tesseract", "--out", str(out))
        manifest = ("--manifest", str(out / "manifest.json"), "--name", "Mine")
        file = str(out / "submission.jsonl")
        sent = json.loads(
            factboard("submit", "sample", file, *manifest, "--watch", "--publish", "--json")
        )
        board = json.loads(factboard("leaderboard", "sample", "--json"))
    rows = {row["name"]: row for row in board["sections"][0]["rows"]}
    assert rows["Mine"]["submission"] == sent["id"]
    assert rows["Mine"]["values"] == rows[SHIPPED]["values"]
    assert rows["Mine"]["intervals"] == rows[SHIPPED]["intervals"]
