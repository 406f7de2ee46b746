"""`manage.py prepare`: sets up a site from a fresh checkout.

Safe to run again: it migrates, refreshes outdated files, keeps all data, and prints the next step.
"""

import gc
import hashlib
import socket
from argparse import ArgumentParser
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from portal.schema import refuse_foreign
from sample.loader import is_loaded, regrade_outdated
from sample.people import PASSWORD, PEOPLE

# Unused parts of libraries, which would take most of the time and space.
UNUSED = ["rest_framework"]


class Command(BaseCommand):
    help = "Prepare database, cache, static files and the sample benchmark. Safe to run again."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, help="Check that this port is free.")
        parser.add_argument("--no-sample", action="store_true", help="Do not load the sample.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["port"]:
            _check_port(options["host"], options["port"])
        with _no_garbage_collection():
            self._make_ready()
        if not options["no_sample"] and not is_loaded():
            self.stdout.write("Loading the sample benchmark …")
            call_command("load_sample", stdout=self.stdout)
        for regrade in [] if options["no_sample"] else regrade_outdated():
            self.stdout.write(f"The sample board “{regrade.board}” is graded again.")
        if options["port"]:
            self._say_where(options["host"], options["port"], with_sample=not options["no_sample"])

    def _make_ready(self) -> None:
        refuse_foreign()
        # The workers that are forked below must not share a connection.
        connection.close()
        # These are independent. A fork shares imported modules, and no connection is open yet.
        with ProcessPoolExecutor(1, mp_context=get_context("fork")) as beside:
            files = [beside.submit(_collect_static), beside.submit(_store_documents)]
            call_command("migrate", verbosity=0, interactive=False)
            call_command("createcachetable", verbosity=0)
            for each in files:
                each.result()

    def _say_where(self, host: str, port: int, *, with_sample: bool) -> None:
        lines = ["", f"  Factboard: http://{host}:{port}/", ""]
        if with_sample:
            lines += ["  Sample logins, password for all: " + PASSWORD]
            lines += [f"    {person.email:<28} {person.role}" for person in PEOPLE]
        lines += [
            "",
            "  Ctrl-C stops web server and worker. Data stays in " + settings.VAR_DIR.name + "/.",
            "",
        ]
        self.stdout.write("\n".join(lines))


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Migrations make models by the thousand, which all stay until the end: to look through them
    for garbage again and again takes a third of their time, and once more when the process ends.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _check_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"{host}:{port} cannot be used ({error.strerror}). "
                f"Is the site running already? Choose another: make run PORT={port + 1}"
            ) from error


def _collect_static() -> None:
    """Runs only if a source file has changed, because hashing and compressing takes seconds."""
    stamp = Path(settings.STATIC_ROOT) / ".fingerprint"
    fingerprint = _static_fingerprint()
    if stamp.is_file() and stamp.read_text(encoding="ascii") == fingerprint:
        return
    print("Collecting static files …", flush=True)
    call_command(
        "collectstatic", verbosity=0, interactive=False, clear=True, ignore_patterns=UNUSED
    )
    stamp.write_text(fingerprint, encoding="ascii")


def _store_documents() -> None:
    # Imports the whole API, which the rest of this command does not need.
    from portal.home.api import store_documents

    store_documents()


def _static_fingerprint() -> str:
    """Changes whenever a static source file is added, removed or edited."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            stat = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()
