"""Imports one source in a Django of its own and prints what it took; `bench.imports` runs it."""

import json
import resource
import sys
import time
from pathlib import Path


def main(form: str, path: str) -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from portal.datasets.imports.services import import_path
    from portal.datasets.models import Dataset

    call_command("migrate", verbosity=0)
    dataset = Dataset.objects.create(slug="bench", title="Bench")
    begun = time.perf_counter()
    run = import_path(dataset=dataset, path=Path(path), form=form)
    seconds = time.perf_counter() - begun
    # Kilobytes on Linux.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    refused = run.items.filter(outcome="refused").count()
    done = {"seconds": seconds, "documents": dataset.documents.count(), "refused": refused}
    sys.stdout.write(json.dumps({**done, "megabytes": peak}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
