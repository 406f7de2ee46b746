"""ReceiptBench with a sentence embedding from a folder: its name, its loading, weighted lists."""

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from scoring.benchmark_setup import build_receiptbench
from scoring.benchmarks import BENCHMARKS, Benchmark, OptionError
from scoring.benchmarks.receiptbench import RECEIPTBENCH, embedding
from scoring.benchmarks.receiptbench.embedding import (
    EmbeddingError,
    FolderEmbedding,
    embedding_name,
)

from .models import FakeTransformer, embedding_name_of, install_fake, model_folder

GOLD = {"id": "r1", "fields": {"detail": [{"content": "Trip fare", "amount": 45}]}}
READ = {"id": "r1", "fields": {"detail": [{"content": "Cost of the ride", "amount": 45}]}}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Remove models and vectors of other tests."""
    yield
    embedding._vector.cache_clear()
    embedding._model.cache_clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return model_folder(tmp_path / "all-MiniLM-L6-v2")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeTransformer]:
    return install_fake(monkeypatch)


@pytest.fixture
def spec(folder: Path, fake: type[FakeTransformer], settings: LazySettings) -> Benchmark:
    settings.EMBEDDING_MODEL = folder
    return build_receiptbench()


# --- the folder -----------------------------------------------------------------------------


def test_another_model_has_another_name(folder: Path, fake: object, tmp_path: Path) -> None:
    name = embedding_name(folder)
    assert name == embedding_name_of(folder)
    assert name.startswith("all-MiniLM-L6-v2@")
    (folder / "README.md").write_text("Words about a model do not make it another.")
    (folder / "pytorch_model.bin").write_bytes(b"the same weights in the form that is not read")
    assert embedding_name(folder) == name
    for number, part in enumerate(("model", "config", "1_Pooling/config")):
        other = model_folder(tmp_path / str(number) / folder.name, **{part: b'{"other": 1}'})
        assert embedding_name(other) not in {name, ""}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: folder.rename(folder.parent / "gone"), "there is no such folder"),
        (lambda folder: (folder / "modules.json").unlink(), "modules.json: No such file"),
        (lambda folder: (folder / "modules.json").write_text("{"), "cannot be read as a model"),
        (lambda folder: (folder / "modules.json").write_text("[1]"), "cannot be read as a model"),
        (lambda folder: (folder / "model.safetensors").unlink(), "it has no model.safetensors"),
    ],
)
def test_folders_without_a_model_are_refused(
    folder: Path, fake: object, spoil: Any, message: str, settings: LazySettings
) -> None:
    spoil(folder)
    settings.EMBEDDING_MODEL = folder
    with pytest.raises(
        OptionError, match=rf"option weights: A .*EMBEDDING_MODEL: .*{message}"
    ) as e:
        build_receiptbench().check_options({"weights": "A"})
    assert str(folder.parent) not in str(e.value)


def test_a_name_that_no_signature_could_hold(fake: object, tmp_path: Path) -> None:
    for name in ("x" * 33, "a b", "a|b"):
        with pytest.raises(EmbeddingError, match="at most 32 characters"):
            embedding_name(model_folder(tmp_path / name))


def test_without_the_package(folder: Path, settings: LazySettings) -> None:
    assert "sentence_transformers" not in sys.modules
    settings.EMBEDDING_MODEL = folder
    spec = build_receiptbench()
    with pytest.raises(OptionError, match="EMBEDDING_MODEL: sentence_transformers is not inst"):
        spec.check_options({"weights": "A"})
    with pytest.raises(OptionError, match="EMBEDDING_MODEL: sentence_transformers is not inst"):
        spec.check_options({"embedding": "all-MiniLM-L6-v2"})
    assert spec.score_item(GOLD, READ, spec.check_options({}))["outcome"] == "read"
    with pytest.raises(EmbeddingError, match=r"not installed \(requirements/semantic.txt\)"):
        FolderEmbedding(folder)(["a"])


# --- loading --------------------------------------------------------------------------------


def test_the_model_is_loaded_with_the_first_text_and_from_the_folder_alone(
    spec: Benchmark, fake: type[FakeTransformer], folder: Path
) -> None:
    options = spec.check_options({"weights": "A"})
    spec.score_item(GOLD, None, options)
    assert fake.loaded == []
    for _ in range(2):
        spec.score_item(GOLD, READ, options)
    (model,) = fake.loaded
    assert (model.path, model.options) == (
        str(folder),
        {"device": "cpu", "local_files_only": True},
    )
    assert (os.environ["HF_HUB_OFFLINE"], os.environ["TOKENIZERS_PARALLELISM"]) == ("1", "false")
    assert sys.modules["torch"].threads == 1
    # Each text on its own and once, of length 1.
    assert [texts for texts, _ in model.calls] == [["trip fare"], ["cost of the ride"]]
    assert all(asked["normalize_embeddings"] is True for _, asked in model.calls)


def test_default_weights_load_nothing(spec: Benchmark, fake: type[FakeTransformer]) -> None:
    options = spec.check_options({})
    assert spec.score_item(GOLD, READ, options) == RECEIPTBENCH.score_item(GOLD, READ, options)
    assert fake.loaded == []
    assert spec.signature(options) == RECEIPTBENCH.signature(RECEIPTBENCH.check_options({}))


def test_only_the_beginning_of_a_text_is_read(folder: Path, fake: type[FakeTransformer]) -> None:
    FolderEmbedding(folder)(["x" * 1_000_000])
    assert [len(text) for text in fake.loaded[0].calls[0][0]] == [10_000]


def test_a_model_that_cannot_be_loaded(folder: Path, fake: object) -> None:
    (folder / "config.json").unlink()
    with pytest.raises(EmbeddingError, match="all-MiniLM-L6-v2 cannot be loaded: OSError"):
        FolderEmbedding(folder)(["a"])


def test_it_can_be_sent_to_processes(spec: Benchmark) -> None:
    options = spec.check_options({"weights": "D"})
    scorer = pickle.loads(pickle.dumps(spec.score_item))
    assert scorer(GOLD, READ, options) == spec.score_item(GOLD, READ, options)


# --- lists ----------------------------------------------------------------------------------


def detail(spec: Benchmark, gold: str, read: str, **raw: str) -> dict[str, Any]:
    def receipt(text: str) -> dict[str, Any]:
        return {"id": "r", "fields": {"detail": [{"content": text, "amount": 1}]}}

    options = spec.check_options(raw)
    result = spec.score_item(receipt(gold), receipt(read), options)
    return {
        "counts": result["fields"]["detail"]["counts"],
        "reward": result["fields"]["detail"]["reward"],
        "weights": {name: lists["detail"][0] for name, lists in result["weights"].items()},
    }


def test_similarities_are_weighed(spec: Benchmark) -> None:
    # The sorted words are equal. "fare" or "trip" is the longest common subsequence, 4 of 9, and
    # only the blank can stay: distance 8 of 9. (3, 4) and (4, 3) have length 5, cosine 24/25.
    expected = {
        "A": 0.3 / 9 + 0.2 + 0.1 * 4 / 9 + 0.4 * 0.96,
        "B": 0.25 * (1 / 9 + 1 + 4 / 9 + 0.96),
        "C": 0.4 / 9 + 0.3 + 0.3 * 4 / 9,
        "D": 0.3 + 0.3 * 4 / 9 + 0.4 * 0.96,
    }
    assert [label for label, S in expected.items() if S >= 0.75] == ["D"]
    for label, similarity in expected.items():
        raw = {"weights": label, "embedding": "all-MiniLM-L6-v2"}
        found = detail(spec, "Trip fare", "Fare trip", **raw)
        is_same = similarity >= 0.75
        assert found["counts"] == ([1, 0, 0, 0] if is_same else [0, 1, 1, 0])
        assert found["reward"] == pytest.approx(similarity if is_same else 0)
        assert found["weights"] == {"A": 0, "B": 0, "C": 0, "D": 1}


def test_cosines_are_of_the_meaning(spec: Benchmark) -> None:
    # By characters S = 0.3 + 0.3 * 4/8 + 0.4 * 0 = 0.45 for both: (0, 2) and (1, 0) are at right
    # angles. An identical text has S = 1, whatever its vector.
    assert detail(spec, "Tip fare", "Fare tip", weights="D")["counts"] == [0, 1, 1, 0]
    equal = detail(spec, "Tip fare", "tip FARE ", weights="D")
    assert equal["reward"] == pytest.approx(1.0)
    assert equal["weights"] == {"A": 1, "B": 1, "C": 1, "D": 1}


# --- options and signature --------------------------------------------------------------------


def test_weights_take_the_embedding_that_is_set_up(spec: Benchmark, folder: Path) -> None:
    name = embedding_name_of(folder)
    assert spec.default_options["weights"] == "C"
    for weights in ("A", "B", "D"):
        options = spec.check_options({"weights": weights})
        assert options["embedding"] == name
        assert f"|embedding:{name}|" in spec.signature(options)
        assert spec.check_options(options) == options
    options = spec.check_options({"embedding": "all-MiniLM-L6-v2"})
    assert options == {**spec.default_options, "embedding": name}
    assert list(spec.score_item(GOLD, READ, options)["weights"]) == ["A", "B", "C", "D"]
    with pytest.raises(OptionError, match="option embedding is none"):
        spec.check_options({"weights": "A", "embedding": "none"})
    with pytest.raises(OptionError, match=f"option embedding must be none, or {name}, not 'x'"):
        spec.check_options({"embedding": "x"})


def test_gradings_of_another_embedding_can_be_read_but_not_continued(spec: Benchmark) -> None:
    options = spec.check_options({"weights": "A", "embedding": "other-model@0123abcd"})
    for here in (spec, RECEIPTBENCH):
        assert here.check_options(options) == options
        assert "|embedding:other-model@0123abcd|" in here.signature(options)
        assert here.columns_for(options)
        assert here.lacking(options).startswith("option embedding: other-model@0123abcd is not set")
        with pytest.raises(OptionError, match="other-model@0123abcd is not set up here"):
            here.score_item(GOLD, READ, options)


def test_words_say_what_decides(spec: Benchmark, folder: Path) -> None:
    lists, _amounts, meaning = spec.words(spec.check_options({"weights": "D"}))
    assert lists == (
        "Lists: matched with weights D (token sort 0.3, LCS 0.3, embedding 0.4), "
        f"sentence embedding {embedding_name_of(folder)}."
    )
    assert meaning == (
        "Semantic fields: two values mean the same if their Levenshtein similarity is at least "
        "0.75 and their dates, times, numbers, identifiers and words match."
    )


def test_the_registry_has_what_the_settings_say(settings: LazySettings) -> None:
    assert BENCHMARKS["receiptbench"] is RECEIPTBENCH
    settings.EMBEDDING_MODEL = None
    assert build_receiptbench() is RECEIPTBENCH
