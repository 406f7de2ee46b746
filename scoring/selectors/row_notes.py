"""What the rows of a section say of themselves, without saying it row by row."""

import re
from collections.abc import Sequence

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def row_notes(rows: Sequence[tuple[str, str]]) -> list[str]:
    """The sentences of the notes, from pairs of a row's name and its note: first what all rows
    say, then the others under the names of the rows that say them.

    >>> row_notes([("A", "Old. Mean of two."), ("B", "Mean of two.")])
    ['Mean of two.', 'A: Old.']
    """
    sayers: dict[str, list[str]] = {}
    for name, note in rows:
        for sentence in dict.fromkeys(filter(None, _BETWEEN_SENTENCES.split(note.strip()))):
            sayers.setdefault(sentence, []).append(name)
    shared = [sentence for sentence, names in sayers.items() if len(names) == len(rows)]
    own: dict[str, list[str]] = {}
    for sentence, names in sayers.items():
        if sentence not in shared:
            own.setdefault(", ".join(names), []).append(sentence)
    return shared + [f"{names}: {' '.join(sentences)}" for names, sentences in own.items()]
