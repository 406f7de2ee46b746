"""Real filings and real OCR output on a running site: commands, worker and API with a token."""

import io
import json
import urllib.request
import zipfile
from typing import Any
from uuid import uuid4

import pytest

from tests.jobs.processes import wait_until
from tests.shared import REALDATA, needs_realdata

from .site import Site

pytestmark = [pytest.mark.processes, needs_realdata]

CLEAN = ["tesseract", "rapidocr"]
DEGRADED = "tesseract_75dpi"


class Client:
    """An API client that authenticates with a token."""

    def __init__(self, site: Site, email: str) -> None:
        self.base = f"{site.url}/api/v1"
        self.token = site.shell(
            "import json\n"
            "from portal.accounts.models import User\n"
            "from portal.accounts.access import issue_token\n"
            f"user = User.objects.get(email={email!r})\n"
            "print(json.dumps(issue_token(user=user, name='test')[1]))"
        )

    def get(self, path: str) -> Any:
        return self._send("GET", path, None, "application/json")

    def send(self, method: str, path: str, body: Any) -> Any:
        return self._send(method, path, json.dumps(body).encode(), "application/json")

    def upload(self, path: str, fields: dict[str, str], filename: str, data: bytes) -> Any:
        boundary = uuid4().hex
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        ]
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{filename}"\r\nContent-Type: application/zip\r\n\r\n'
        )
        body = "".join([*parts, head]).encode() + data + f"\r\n--{boundary}--\r\n".encode()
        return self._send("POST", path, body, f"multipart/form-data; boundary={boundary}")

    def _send(self, method: str, path: str, body: bytes | None, kind: str) -> Any:
        request = urllib.request.Request(
            self.base + path,
            method=method,
            data=body,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": kind},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


def predictions_of(engine: str) -> bytes:
    """Returns an engine's output as a ZIP with one file per page."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as bundle:
        for page in sorted((REALDATA / "predictions" / engine).iterdir()):
            bundle.write(page, page.name)
    return stream.getvalue()


def test_clean_engines_rank_above_the_degraded_one(site: Site) -> None:
    imported = site.command("import_dataset", "real", str(REALDATA), "--create")
    assert "132 imported, 0 updated, 0 unchanged, 0 kept, 0 refused" in imported
    frozen = site.command("freeze_release", "real", "1.0.0", "--gold", str(REALDATA / "gold"))
    assert "132 documents, 4220 facts" in frozen

    organiser = Client(site, site.add_user("Olga", is_organiser=True))
    organiser.send(
        "POST",
        "/boards/",
        {
            "slug": "real",
            "title": "Real pages",
            "benchmark": "fincriticaled",
            "phase_title": "Test",
            "dataset": "real",
            "release": "1.0.0",
            # Hidden gold is rounded by default; the comparison below needs all digits.
            "score_decimals": None,
        },
    )
    organiser.send("PATCH", "/boards/real/", {"state": "open", "confirm_disclosure": True})

    researcher = Client(site, site.add_user("Rex"))
    submitted = {}
    for engine in [*CLEAN, DEGRADED]:
        answer = researcher.upload(
            "/boards/real/submissions/",
            {"name": engine, "category": "ocr_pipeline"},
            f"{engine}.zip",
            predictions_of(engine),
        )
        submitted[engine] = answer["id"]

    def graded() -> bool:
        answers = [researcher.get(f"/submissions/{pk}/") for pk in submitted.values()]
        states = {answer["grading"]["state"] for answer in answers}
        assert not states & {"failed", "cancelled"}
        return states == {"done"}

    wait_until(graded, seconds=180, what="the worker has graded all")
    for pk in submitted.values():
        organiser.send("POST", f"/submissions/{pk}/publish/", {})

    scores = {
        engine: researcher.get(f"/submissions/{pk}/")["grading"]["scores"]
        for engine, pk in submitted.items()
    }
    for engine in CLEAN:
        assert scores[engine]["ffa"] > scores[DEGRADED]["ffa"] + 0.3
    # Offline grading with the release's gold gives the same figures.
    site.command("export_release", "real", "1.0.0", "--out", str(site.folder / "release.zip"))
    with zipfile.ZipFile(site.folder / "release.zip") as bundle:
        bundle.extract("gold.jsonl", site.folder)
    offline = json.loads(
        site.command(
            "grade",
            "fincriticaled",
            "--gold",
            str(site.folder / "gold.jsonl"),
            "--submission",
            str(REALDATA / "predictions" / DEGRADED),
            "--json",
        )
    )
    for column, value in offline["scores"].items():
        assert scores[DEGRADED][column] == pytest.approx(value, abs=1e-12), column
