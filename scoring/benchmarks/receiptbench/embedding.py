"""The sentence embedding that the protocol may use in addition to the lexical shares.

The embedding is a model in a local folder. Its packages are an extra and take seconds to load, so
each process loads them when it first embeds a text. Nothing is downloaded.
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

from scoring.benchmarks.items import Options
from scoring.benchmarks.options import OptionError
from scoring.metrics.receipts.values import Embedding

PACKAGE = "sentence_transformers"
# The model's name in options and signatures: its folder and a hash.
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}@[0-9a-f]{8}"
# Everything that a vector depends on: files of the folder and of its modules. If the weights exist
# in two formats, the first is loaded.
_SETTINGS = (
    "modules.json config.json config_sentence_transformers.json sentence_bert_config.json "
    "special_tokens_map.json tokenizer.json tokenizer_config.json vocab.txt"
).split()
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
# Models read a few hundred tokens; tokenizing more would be wasted.
_MOST_CHARACTERS = 10_000
# Texts whose vectors are cached, since gold texts recur with every submission.
_REMEMBERED = 4_096

# Read when the packages are loaded: no network, no threads, no progress bars.
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


class EmbeddingError(Exception):
    """The model cannot be used. The message gives the reason without the folder's path."""


@dataclass(frozen=True)
class FolderEmbedding:
    """Vectors of length 1 by the sentence-transformers model in this folder.

    Each text is embedded on its own, so that its vector does not depend on the other texts.
    Picklable; each process loads the model again.
    """

    folder: Path

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        """Return one vector per text. Raises EmbeddingError."""
        return [_vector(self.folder, text[:_MOST_CHARACTERS]) for text in texts]


def embedding_name(folder: Path) -> str:
    """Return the folder's name with a hash of model, settings and vocabulary, such as
    `all-MiniLM-L6-v2@1a2b3c4d`. Raises EmbeddingError if the folder holds no such model, or if the
    package, which this does not load, is not installed."""
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
            "the folder's name can have at most 32 characters: letters and digits, . _ and -"
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
    """Yield the files that define the model. Raises ValueError if there are no weights."""
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
    # Even hidden progress bars start a thread, which in a worker would take the signals that its
    # end waits for.
    tqdm.monitor_interval = 0
    try:
        models, torch = import_module(PACKAGE), import_module("torch")
    except ImportError as error:
        raise EmbeddingError(
            f"{PACKAGE} is not installed (requirements/semantic.txt): {error}"
        ) from error
    # Sums must not depend on the number of cores, and several processes already use these.
    torch.set_num_threads(1)
    try:
        return models.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise EmbeddingError(f"{folder.name} cannot be loaded: {type(error).__name__}") from error


NO_EMBEDDING = "none"


@dataclass(frozen=True)
class Helpers:
    """An embedding of texts and its name in options and signatures; `why_none` explains why there
    is none. It must be deterministic, and picklable for use in several processes."""

    embed: Embedding | None = None
    embedding_name: str = NO_EMBEDDING
    why_none: str = "EMBEDDING_MODEL is not set"


def lacking(options: Options, *, helpers: Helpers) -> str:
    """Return which embedding these options need that is not set up here; empty if none."""
    name = options.get("embedding", NO_EMBEDDING)
    if name in {NO_EMBEDDING, helpers.embedding_name}:
        return ""
    there = helpers.embedding_name if helpers.embed else helpers.why_none
    return f"option embedding: {name} is not set up here ({there})"


def embedding_for(options: Options, helpers: Helpers) -> Embedding | None:
    """Return the embedding that these options name, if any. Raises OptionError if it differs from
    the one that is set up. Old results name none."""
    if problem := lacking(options, helpers=helpers):
        raise OptionError(problem)
    is_used = options.get("embedding", NO_EMBEDDING) != NO_EMBEDDING
    return helpers.embed if is_used else None
