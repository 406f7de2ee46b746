"""A folder with a sentence model's files, and a package that reads it: far too small to be useful,
and as deterministic as a real one."""

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

# Names in the order of hashing: the folder's own files, then its modules'.
FILES = {
    "modules.json": json.dumps([{"path": ""}, {"path": "1_Pooling"}]).encode(),
    "config.json": b"{}",
    "model.safetensors": b"weights",
    "1_Pooling/config.json": b"pooling",
}
# Vectors by hand for the texts of the tests, not all of length 1.
VECTORS = {
    "trip fare": (3.0, 4.0),
    "fare trip": (4.0, 3.0),
    "tip fare": (0.0, 2.0),
}


def model_folder(folder: Path, **changed: bytes) -> Path:
    """Make a folder of this name; `changed` has contents by the name before the dot."""
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(changed.get(name.partition(".")[0], content))
    return folder


def embedding_name_of(folder: Path) -> str:
    """The expected name: SHA-256 over each name, NUL and the SHA-256 of the file."""
    parts = (
        name.encode() + b"\0" + hashlib.sha256((folder / name).read_bytes()).digest()
        for name in FILES
    )
    return f"{folder.name}@{hashlib.sha256(b''.join(parts)).hexdigest()[:8]}"


class FakeTransformer:
    """Replaces SentenceTransformer and records its inputs."""

    loaded: list["FakeTransformer"]

    def __init__(self, path: str, **options: Any) -> None:
        if not Path(path, "config.json").exists():
            raise OSError("no model")
        self.path, self.options = path, options
        self.calls: list[tuple[list[str], dict[str, Any]]] = []
        type(self).loaded.append(self)

    def encode(self, texts: Sequence[str], **options: Any) -> npt.NDArray[np.float32]:
        self.calls.append((list(texts), options))
        vectors = np.array([VECTORS.get(text, (1.0, 0.0)) for text in texts], dtype=np.float32)
        if options["normalize_embeddings"]:
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def install_fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeTransformer]:
    """Make the package importable in this process, until the test's end."""
    fake = type("SentenceTransformer", (FakeTransformer,), {"loaded": []})
    package, torch = ModuleType("sentence_transformers"), ModuleType("torch")
    package.__dict__["SentenceTransformer"] = fake
    package.__spec__ = __spec__  # so that it counts as installed
    torch.__dict__["set_num_threads"] = lambda number: torch.__dict__.update(threads=number)
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    monkeypatch.setitem(sys.modules, "torch", torch)
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_PROGRESS_BARS", "TOKENIZERS_PARALLELISM"):
        monkeypatch.setenv(name, "unset")
    return fake
