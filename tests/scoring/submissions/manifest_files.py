"""Run manifests for tests."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

PROMPT = "Transcribe this page as HTML."


def manifest_of(content: bytes, **changes: Any) -> dict[str, Any]:
    """The manifest of a run over the three pages of the test board, whose file is `content`."""
    items = [
        {"id": f"page-{number}", "state": "answered", "attempts": 1, "seconds": 0.5 * number}
        for number in (1, 2, 3)
    ]
    return {
        "format": "factboard-run-1",
        "benchmark": "fincriticaled",
        "dataset": "pages",
        "version": "1.0.0",
        "engine": "openai",
        "model": "reader-7b",
        "host": "gpu-7.internal:8000",
        "prompts": [
            {
                "version": "paper-1",
                "name": "item",
                "sha256": hashlib.sha256(PROMPT.encode()).hexdigest(),
                "text": PROMPT,
            }
        ],
        "decoding": {"temperature": 0, "max_tokens": 2048, "stream": False},
        "repairs": [{"name": "code block", "items": 2}],
        "started_at": "2026-11-20T10:00:00+00:00",
        "finished_at": "2026-11-20T10:05:00+00:00",
        "tokens": {"input": 3000, "output": 1200, "uncertain": 0},
        "cost": 0.0123,
        "latency": {"median": 1.0, "p95": 1.5},
        "versions": {"factboard": "1.0", "python": "3.12.3"},
        "command": "factboard run board --model reader-7b --base-url http://gpu-7.internal:8000/v1",
        "submission_sha256": hashlib.sha256(content).hexdigest(),
        "items": items,
        **changes,
    }


def manifest_file(manifest: Mapping[str, Any]) -> SimpleUploadedFile:
    return SimpleUploadedFile("manifest.json", json.dumps(manifest).encode())
