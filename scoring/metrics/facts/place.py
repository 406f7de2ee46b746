"""How well an occurrence stands in a fact's place."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .alignment import Alignment

# Characters on either side whose faces tell where an occurrence stands, and how fast their say
# fades.
_WINDOW = 50
_FADING = 16.0
# Further away in the gold text than this, a face no longer speaks for the place.
_NEAR = 130
# A single equal character may face another by chance, so it says less than one in a run of equal
# ones.
_RUN = 3
_CHANCE = 0.3
# What is heard counts for a whole when it comes from at least this share of the characters around.
_QUORUM = 0.35
# As many characters before an occurrence as tell whose label it follows, unless it faces the fact
# by this share.
_LABEL = 12
_SURE = 0.5

_DISTANCE = np.arange(_WINDOW)
_FADE = np.exp(-_DISTANCE / _FADING)


class PlaceJudge:
    """Scores places from an alignment of gold and prediction; all positions are of the condensed
    texts."""

    # From this score on, an occurrence stands in the fact's place.
    LEAST = 0.5

    def __init__(
        self,
        alignment: Alignment,
        gold_rows: NDArray[np.int64],
        prediction_rows: NDArray[np.int64],
    ) -> None:
        """The rows are the table rows or lines that the characters of the two texts stand in, -1
        for none."""
        self._alignment = alignment
        self._rows = np.concatenate((gold_rows, [-1]))
        # To face a mark between values says nothing; the last one stands for no face at all.
        self._is_value = np.array([*map(str.isalnum, alignment.gold.chars), False])
        self._prediction_rows = prediction_rows
        self._faced_rows: dict[int, dict[int, float]] = {}
        blank = np.full(_WINDOW, -1, dtype=np.int64)
        self._faces = np.concatenate((blank, alignment.to_gold, blank))
        say = np.where(alignment.same, np.where(_in_runs(alignment), 1.0, _CHANCE), 0.0)
        silent = np.zeros(_WINDOW)
        self._say = np.concatenate((silent, say, silent))
        self._inside = np.concatenate((silent, np.ones(len(say)), silent))

    def faces(self, span: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """What a stretch of the prediction faces: gold characters (-1: none), and if equal ones."""
        start, end = span
        return self._alignment.to_gold[start:end], self._alignment.same[start:end]

    def fit(
        self, fact: tuple[int, int], occurrences: Sequence[tuple[int, int]]
    ) -> NDArray[np.float64]:
        """For each occurrence `[start, end)`, how well it stands in the place of the fact at
        `[start, end)`.

        own - away + around: the share of its characters that face the fact, minus the share that
        face other gold text, plus what the characters around it say: those before it should face
        gold text shortly before the fact, those behind it text shortly behind, and the fact's row
        may be on either side (the lines of a row's label are often read around its values). Range
        -2 to 2; LEAST and more means *in place*.
        """
        starts = np.array([start for start, _ in occurrences]) + _WINDOW
        ends = np.array([end for _, end in occurrences]) + _WINDOW
        length = max(1, int((ends - starts).max()))
        own_faces = self._faces[starts[:, None] + np.arange(length)]
        faces_fact = (own_faces >= fact[0]) & (own_faces < fact[1])
        own = faces_fact.mean(axis=1)
        away = (~faces_fact & self._is_value[own_faces]).mean(axis=1)
        around = self._around(fact, starts, ends)
        row = int(self._rows[fact[0]])
        if row >= 0:
            for k in np.flatnonzero(own < _SURE):
                around[k] = self._by_row(row, int(starts[k]) - _WINDOW, float(around[k]))
        fits: NDArray[np.float64] = own - away + around
        return fits

    def _by_row(self, row: int, start: int, around: float) -> float:
        """What the row says of an occurrence that does not face the fact, which stands in gold
        row `row`.

        The prediction's row speaks as a whole when it has a label; for a value in a row of its
        own the label just before or just behind it speaks, elsewhere the one before. When it is
        another row's label, the occurrence is not in place, whatever else stands near.
        """
        if start >= len(self._prediction_rows):
            return -1.0  # beyond what is aligned
        prediction_row = int(self._prediction_rows[start])
        before = self._neighbours_row(row, start + _WINDOW - 1 - _DISTANCE)
        if prediction_row < 0:
            return around if before else -1.0
        shares = self._rows_faced_by(prediction_row)
        if shares:
            share = shares.get(row, 0.0)
            return max(around, share) if share >= _SURE else -1.0
        last = int(np.flatnonzero(self._prediction_rows == prediction_row)[-1])
        behind = self._neighbours_row(row, last + _WINDOW + 1 + _DISTANCE)
        return around if before or behind else -1.0

    def _neighbours_row(self, row: int, at: NDArray[np.int64]) -> bool:
        """Whether the nearest characters at these positions that face gold text face `row`, or
        none does."""
        at = at[at < len(self._faces)]
        speaking = at[self._say[at] > _CHANCE][:_LABEL]
        same = self._rows[self._faces[speaking]] == row
        return bool(same.sum() * 2 >= len(same))

    def _rows_faced_by(self, prediction_row: int) -> dict[int, float]:
        """Which gold rows the characters of a row of the prediction face, by share; empty when
        too few do."""
        if prediction_row not in self._faced_rows:
            at = np.flatnonzero(self._prediction_rows == prediction_row)
            speaks = self._say[at + _WINDOW] > _CHANCE
            rows, counts = np.unique(
                self._rows[self._alignment.to_gold[at[speaks]]], return_counts=True
            )
            enough = counts.sum() >= _LABEL // 2
            shares = zip(rows.tolist(), (counts / max(counts.sum(), 1)).tolist(), strict=True)
            self._faced_rows[prediction_row] = dict(shares) if enough else {}
        return self._faced_rows[prediction_row]

    def _around(
        self, fact: tuple[int, int], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """What the characters around say, from -1 (all against the fact's place) to 1 (all for
        it)."""
        row = self._rows[fact[0]]
        # Both sides at once: by side, occurrence and distance.
        at = np.stack((starts[:, None] - 1 - _DISTANCE, ends[:, None] + _DISTANCE))
        low = np.array((fact[0] - _NEAR, fact[1]))[:, None, None]
        high = np.array((fact[0], fact[1] + _NEAR))[:, None, None]
        faces = self._faces[at]
        say = self._say[at] * _FADE
        agrees = (faces >= low) & (faces < high)
        if row >= 0:
            agrees |= self._rows[faces] == row
        agreeing = np.where(agrees, say, -say).sum(axis=2).sum(axis=0)
        heard = say.sum(axis=2).sum(axis=0)
        present = (self._inside[at] * _FADE).sum(axis=2).sum(axis=0)
        result: NDArray[np.float64] = agreeing / np.maximum(heard, np.maximum(_QUORUM * present, 1))
        return result


def _in_runs(alignment: Alignment) -> NDArray[np.bool_]:
    """Which characters lie in a run of at least _RUN equal ones, without a break on either side."""
    at = np.flatnonzero(alignment.same)
    inside = np.zeros(len(alignment.same), dtype=bool)
    if not len(at):
        return inside
    faces = alignment.to_gold[at]
    breaks = np.flatnonzero((np.diff(at) != 1) | (np.diff(faces) != 1)) + 1
    for run in np.split(at, breaks):
        if len(run) >= _RUN:
            inside[run] = True
    return inside
