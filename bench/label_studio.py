"""Label Studio from its package, measured as our workbench is: the same pages, labels and clients.

`make label-studio` installs it into an environment of its own; `make bench` then measures it in the
same run, so that the ratios are of one machine in one hour.
"""

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.client import Client, rate_and_p95
from bench.filings import Filing, spans_of
from bench.site import Server, free_port
from portal.facts import canonicalise
from portal.facts.labelstudio.tasks import LABELS, OBJECT, LabelledBy, write_task
from portal.facts.spans import FactSpan

VERSION = "1.23.2"
# Seconds after which a server that has just started is idle.
SETTLED = 3
_TOKEN = "b" * 40
_CONFIG = (
    f'<View><HyperTextLabels name="{LABELS}" toName="{OBJECT}"><Label value="Number"/>'
    f'<Label value="Date"/></HyperTextLabels><HyperText name="{OBJECT}" value="${OBJECT}"/></View>'
)
# Nothing leaves the machine: no statistics, no crash reports, no look for a newer version.
_QUIET = {
    "COLLECT_ANALYTICS": "false",
    "LATEST_VERSION_CHECK": "false",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    "LOG_LEVEL": "WARNING",
}


def find_label_studio(folder: str) -> Path:
    """The environment in which Label Studio is installed, in the version we compare with."""
    environment = Path(folder).resolve()
    python = environment / "bin" / "python"
    if not python.exists():
        raise argparse.ArgumentTypeError(f"{folder} is no virtual environment: make label-studio")
    code = "from importlib.metadata import version; print(version('label-studio'))"
    command = [str(python), "-c", code]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if (found := asked.stdout.strip()) != VERSION:
        raise argparse.ArgumentTypeError(f"{folder} has Label Studio {found or '–'}, not {VERSION}")
    return environment


def label_studio_figures(
    environment: Path, pages: Sequence[Filing], clients: int
) -> dict[str, float]:
    """Its figures by the keys of `bench.workbench.ASKED`, in the units of ours."""
    with tempfile.TemporaryDirectory() as folder:
        site = _LabelStudio(environment, Path(folder))
        try:
            figures = {"first": site.start() * 1000}
            time.sleep(SETTLED)
            figures["memory"] = site.server.memory()
            return figures | _busy(site, pages, clients)
        finally:
            site.server.stop()


def _busy(site: "_LabelStudio", pages: Sequence[Filing], clients: int) -> dict[str, float]:
    tasks = site.fill(pages)
    client = site.client()
    urls = [f"/api/tasks/{number}/" for number in tasks]
    client.get(urls[0])
    opened = site.server.cpu_milliseconds(len(urls), lambda: [client.get(url) for url in urls])
    saved = site.server.cpu_milliseconds(len(tasks), _Saves(client, tasks).run)
    numbers = list(tasks)
    shares = [{one: tasks[one] for one in numbers[part::clients]} for part in range(clients)]
    together = rate_and_p95([_Saves(site.client(), share) for share in shares])
    return {"open": opened, "save": saved, **together}


class _LabelStudio:
    """A server of its own, with SQLite in a folder of its own."""

    server: Server

    def __init__(self, environment: Path, folder: Path) -> None:
        self._environment = environment
        self._folder = folder
        self._port = free_port()

    def start(self) -> float:
        """Seconds from an empty folder to the first page."""
        # Variables of ours mean something else to it.
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        command = [
            str(self._environment / "bin" / "label-studio"), "start", "--no-browser",
            "--internal-host", "127.0.0.1", "--port", str(self._port),
            "--data-dir", str(self._folder), "--username", "bench@example.org",
            "--password", "correct horse 1", "--user-token", _TOKEN, "--enable-legacy-api-token",
        ]  # fmt: skip
        begun = time.perf_counter()
        settings = _QUIET | {"LABEL_STUDIO_BASE_DATA_DIR": str(self._folder)}
        self.server = Server(command, self._folder / "server.log", kept | settings)
        self.server.wait_for(f"http://127.0.0.1:{self._port}/user/login/")
        return time.perf_counter() - begun

    def client(self) -> Client:
        return Client(self._port, {"Authorization": f"Token {_TOKEN}"})

    def fill(self, pages: Sequence[Filing]) -> dict[int, list[Any]]:
        """The ids of a project's tasks with their labels; each page has them as an annotation."""
        client = self.client()
        project = client.post("/api/projects/", {"title": "Bench", "label_config": _CONFIG})["id"]
        written = [_task(page) for page in pages]
        client.post(f"/api/projects/{project}/import?commit_to_project=true", written)
        asked = f"/api/tasks/?project={project}&page_size={len(pages)}&fields=task_only"
        answer = client.get(asked)
        rows = answer["tasks"] if isinstance(answer, dict) else answer
        by_name = {task["data"]["name"]: task["annotations"][0]["result"] for task in written}
        return {row["id"]: by_name[row["data"]["name"]] for row in rows}


def _task(page: Filing) -> dict[str, Any]:
    """The page with one annotation that holds its labels, without values and signs."""
    canonical = canonicalise(page.html)
    spans = [FactSpan(**span, value="", sign="") for span in spans_of(canonical.text, page.facts)]
    task = write_task(1, {"name": page.name}, canonical.html, [LabelledBy(1, None, spans)])
    (annotation,) = task["annotations"]
    labels = [one for one in annotation["result"] if one["type"] == "hypertextlabels"]
    return {"data": task["data"], "annotations": [{"result": labels}]}


class _Saves:
    """Submits the labels of one task after the other."""

    def __init__(self, client: Client, tasks: Mapping[int, list[Any]]) -> None:
        self._client = client
        self._tasks = tasks
        self.milliseconds: list[float] = []

    @property
    def count(self) -> int:
        return len(self._tasks)

    def run(self) -> None:
        for number, labels in self._tasks.items():
            begun = time.perf_counter()
            body = {"result": labels, "lead_time": 12.5}
            self._client.post(f"/api/tasks/{number}/annotations/", body)
            self.milliseconds.append((time.perf_counter() - begun) * 1000)
