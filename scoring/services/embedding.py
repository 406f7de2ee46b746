"""The sentence embedding that the settings name."""

from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from scoring.benchmarks import Benchmark
    from scoring.benchmarks.receiptbench.helpers import Helpers


def build_receiptbench() -> "Benchmark":
    """ReceiptBench with the embedding of the settings."""
    # Numerical libraries, which the site starts without.
    from scoring.benchmarks.receiptbench import RECEIPTBENCH, build_benchmark

    helpers = receipt_helpers()
    return RECEIPTBENCH if helpers is None else build_benchmark(helpers)


def receipt_helpers() -> "Helpers | None":
    """None without the setting. With one that cannot be used there is no embedding, and whoever
    asks for one is told why; boards of other receipts go on."""
    from scoring.benchmarks.embedding import EmbeddingError, FolderEmbedding, embedding_name
    from scoring.benchmarks.receiptbench.helpers import Helpers

    folder = settings.EMBEDDING_MODEL
    if folder is None:
        return None
    try:
        return Helpers(FolderEmbedding(folder), embedding_name(folder))
    except EmbeddingError as error:
        return Helpers(why_none=f"EMBEDDING_MODEL: {error}")
