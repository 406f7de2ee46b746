"""Scores joined items on several cores, in the order of the gold and whatever their number."""

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path

from .base import ItemResult, ItemScorer, Options
from .streaming import Chunk, JoinedItems

# Below both of these the processes would take longer to start than the items to score.
_FEW_ITEMS = 2_000
_FEW_BYTES = 1024 * 1024
# Chunks handed out ahead per process. Results that wait for an earlier one are in memory.
_AHEAD = 4


def jobs_for(items: JoinedItems) -> int:
    """How many processes suit these items: all cores of this process, or one if they are few."""
    if len(items) < _FEW_ITEMS and items.size < _FEW_BYTES:
        return 1
    return cores()


def cores() -> int:
    """The cores that this process may use; a container is often given fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def score_items(
    items: JoinedItems, score_item: ItemScorer, options: Options, jobs: int
) -> Iterator[ItemResult]:
    """The results of all items, in the order of the gold, as a stream.

    With more than one job `score_item` must be something that can be pickled, such as a function of
    a module. Raises BrokenProcessPool when one of these is ended from outside.
    """
    score = partial(score_chunk, items.path, score_item, options)
    if jobs == 1:
        for chunk in items.chunks():
            yield from score(chunk)
        return
    executor = ProcessPoolExecutor(jobs)
    try:
        chunks = items.chunks()
        waiting: deque[Future[list[ItemResult]]] = deque(
            executor.submit(score, chunk) for chunk in islice(chunks, jobs * _AHEAD)
        )
        while waiting:
            results = waiting.popleft().result()
            waiting.extend(executor.submit(score, chunk) for chunk in islice(chunks, 1))
            yield from results
    finally:
        executor.shutdown(cancel_futures=True)


def score_chunk(
    path: Path, score_item: ItemScorer, options: Options, chunk: Chunk
) -> list[ItemResult]:
    """The results of one chunk, whose lines lie in the file at `path`."""
    with path.open("rb", buffering=0) as file:
        descriptor = file.fileno()
        return [
            score_item(
                item.gold.read(descriptor),
                None if item.prediction is None else item.prediction.read(descriptor),
                options,
            )
            for item in chunk
        ]
