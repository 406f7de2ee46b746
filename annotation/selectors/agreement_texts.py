"""The texts that annotators answered differently most often."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from scoring.metrics.agreement_counts import DocumentCounts

from .agreement_shapes import NOT_MARKED, Answer, ConfusedText

# More would be read by nobody.
_MOST_TEXTS = 50
_LONGEST_TEXT = 80


@dataclass
class _Found:
    items: int = 0
    disputed: int = 0
    answers: Counter[int] = field(default_factory=Counter)
    places: list[tuple[str, int, int]] = field(default_factory=list)


class TextCollector:
    """Takes the documents one by one, so that their texts need not be kept."""

    def __init__(self) -> None:
        self._found: dict[str, _Found] = {}

    def add(self, name: str, text: str, counts: DocumentCounts) -> None:
        codes = counts.ratings.codes
        disputed = (codes != codes[:, :1]).any(axis=1).tolist()
        rows = zip(counts.offsets.tolist(), codes.tolist(), disputed, strict=True)
        for (start, end), answers, is_disputed in rows:
            found = self._found.setdefault(_shown(text[start:end]), _Found())
            found.items += 1
            if is_disputed:
                found.disputed += 1
                found.answers.update(answers)
                found.places.append((name, start, end))

    def most_confused(self, labels: Sequence[str]) -> tuple[ConfusedText, ...]:
        """The most disputed first, of these the ones that are agreed on least often."""
        disputed = [(text, found) for text, found in self._found.items() if found.disputed]
        disputed.sort(key=lambda pair: (-pair[1].disputed, pair[1].items, pair[0]))
        return tuple(_confused(text, found, labels) for text, found in disputed[:_MOST_TEXTS])


def _confused(text: str, found: _Found, labels: Sequence[str]) -> ConfusedText:
    answers = [
        Answer(label, found.answers[code])
        for code, label in [*enumerate(labels, 1), (0, NOT_MARKED)]
        if found.answers[code]
    ]
    document, start, end = min(found.places)
    return ConfusedText(text, found.items, found.disputed, tuple(answers), document, start, end)


def _shown(quote: str) -> str:
    """White space between words does not make another text; long ones are cut."""
    text = " ".join(quote.split())
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
