"""The sentence embedding that the protocol may use beside what is here.

A model in a local folder makes it. The packages are an extra and take seconds to load: that is done
in the process that first embeds a text, once, and never before. Nothing is fetched.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tqdm import tqdm

from scoring.benchmarks.base import OptionError, Options
from scoring.metrics.receipt_values import Embedding

PACKAGE = "sentence_transformers"
# What options and signatures call a model: its folder, and which one of that name it is.
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}@[0-9a-f]{8}"
# All that a vector depends on: files of the folder itself and of those of its modules. Of weights
# that are there twice the first kind is loaded.
_SETTINGS = (
    "modules.json",
    "config.json",
    "config_sentence_transformers.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
)
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
# Models read a few hundred tokens; what comes after is not worth the tokenizer's time.
_MOST_CHARACTERS = 10_000
# Texts whose vectors are remembered: gold texts come back with every submission.
_REMEMBERED = 4_096

# Read when the packages are loaded: nothing from the network, no threads, no bars of progress.
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


class EmbeddingError(Exception):
    """The model cannot be used; the message says why, and nothing of where the folder is."""


@dataclass(frozen=True)
class FolderEmbedding:
    """Vectors of length 1 by the sentence-transformers model in this folder.

    Each text is embedded by itself, so that its vector does not depend on the texts beside it. It
    can be pickled; each process loads the model anew.
    """

    folder: Path

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        """One vector per text. Raises EmbeddingError."""
        return [_vector(self.folder, text[:_MOST_CHARACTERS]) for text in texts]


def embedding_name(folder: Path) -> str:
    """The folder's name with a hash of model, settings and vocabulary, such as
    `all-MiniLM-L6-v2@1a2b3c4d`. Raises EmbeddingError for a folder that holds no such model, or
    where the package is not installed, which it does not load."""
    if not folder.is_dir():
        raise EmbeddingError("there is no such folder")
    try:
        digest = _digest(folder)
    except OSError as error:
        problem = f"{Path(error.filename).name}: {error.strerror}"
        raise EmbeddingError(f"the folder cannot be read as a model: {problem}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise EmbeddingError(f"the folder cannot be read as a model: {error}") from error
    name = f"{folder.name}@{digest}"
    if not re.fullmatch(NAME, name):
        raise EmbeddingError(
            "the folder's name must have at most 32 letters, digits, dots, hyphens and underscores"
        )
    if find_spec(PACKAGE) is None:
        raise EmbeddingError(f"{PACKAGE} is not installed (requirements/semantic.txt)")
    return name


def _digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in _files(folder):
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
        found.update(str(path.relative_to(folder)).encode() + b"\0" + content)
    return found.hexdigest()[:8]


def _files(folder: Path) -> Iterator[Path]:
    """Raises ValueError where there are no weights at all."""
    modules = json.loads((folder / "modules.json").read_bytes())
    places = sorted({"", *(str(module["path"]) for module in modules)})
    weights = 0
    for place in places:
        yield from (p for name in _SETTINGS if (p := folder / place / name).is_file())
        if loaded := [p for name in _WEIGHTS if (p := folder / place / name).is_file()]:
            weights += 1
            yield loaded[0]
    if not weights:
        raise ValueError("it has no model.safetensors and no pytorch_model.bin")


@lru_cache(maxsize=_REMEMBERED)
def _vector(folder: Path, text: str) -> Any:
    vectors = _model(folder).encode(
        [text], batch_size=1, normalize_embeddings=True, show_progress_bar=False
    )
    return vectors[0]


@cache
def _model(folder: Path) -> Any:
    os.environ |= _ENVIRONMENT
    # Even bars that are not shown start a thread, which in a worker's process would take the
    # signals that its end waits for.
    tqdm.monitor_interval = 0
    try:
        models, torch = import_module(PACKAGE), import_module("torch")
    except ImportError as error:
        raise EmbeddingError(
            f"{PACKAGE} is not installed (requirements/semantic.txt): {error}"
        ) from error
    # Sums must not depend on the number of cores; several processes use these already.
    torch.set_num_threads(1)
    try:
        return models.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise EmbeddingError(f"{folder.name} cannot be loaded: {type(error).__name__}") from error


NO_EMBEDDING = "none"


@dataclass(frozen=True)
class Helpers:
    """An embedding of texts, and how options and signatures call it; `why_none` says why there is
    no other. It must be deterministic, and picklable to be used by many processes."""

    embed: Embedding | None = None
    embedding_name: str = NO_EMBEDDING
    why_none: str = "EMBEDDING_MODEL is not set"


def lacking(options: Options, *, helpers: Helpers) -> str:
    """What these options need and is not set up here; empty if there is nothing."""
    name = options.get("embedding", NO_EMBEDDING)
    if name in {NO_EMBEDDING, helpers.embedding_name}:
        return ""
    there = helpers.embedding_name if helpers.embed else helpers.why_none
    return f"option embedding: {name} is not set up here ({there})"


def embedding_for(options: Options, helpers: Helpers) -> Embedding | None:
    """The embedding that these options name, if they name one; raises OptionError where it is
    another than the one that is set up. Results from before there was a choice name none."""
    if problem := lacking(options, helpers=helpers):
        raise OptionError(problem)
    is_used = options.get("embedding", NO_EMBEDDING) != NO_EMBEDDING
    return helpers.embed if is_used else None
