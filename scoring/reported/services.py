"""Enters, edits and withdraws rows from publications, and creates human runs.

Every change writes an event and invalidates the board's cached leaderboard.
"""

from collections.abc import Iterable, Mapping
from typing import IO, Any

from django.db import transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from scoring.leaderboard.services import bump_board, with_general
from scoring.models import Board, Entry, Submission
from scoring.submissions.services import create_submission
from scoring.submissions.uploads import CheckedUpload, check_upload

from .selectors import ItemSample, entered_rows

RUN_RULE = "A human baseline needs an answer for every item of its sample."


@transaction.atomic
def add_row(*, board: Board, row: Mapping[str, Any], actor: User | None) -> Entry:
    """Enters a row; `row` has the fields of `RowForm.row`."""
    entry = Entry(board=board, is_entered=True)
    _write(entry, row)
    record_event(verb="enter_row", subject=entry, actor=actor, board=board.pk, row=_logged(entry))
    bump_board(board.pk)
    return entry


@transaction.atomic
def edit_row(*, entry: Entry, row: Mapping[str, Any], actor: User | None) -> Entry:
    """Changes an entered row and logs its former content. Without a difference, nothing happens."""
    stored = Entry.objects.select_for_update(of=("self",)).get(pk=entry.pk, is_entered=True)
    before = _logged(stored)
    _write(stored, row)
    if (after := _logged(stored)) != before:
        changed = {name: value for name, value in before.items() if after[name] != value}
        record_event(
            verb="edit_row", subject=stored, actor=actor, board=stored.board_id, before=changed
        )
        bump_board(stored.board_id)
    return stored


@transaction.atomic
def withdraw_row(*, entry: Entry, actor: User | None) -> None:
    """Removes an entered row from the board. The log keeps its whole content."""
    stored = Entry.objects.select_for_update(of=("self",)).get(pk=entry.pk, is_entered=True)
    record_event(
        verb="withdraw_row", subject=stored, actor=actor, board=stored.board_id, row=_logged(stored)
    )
    stored.delete()
    bump_board(stored.board_id)


@transaction.atomic
def load_rows(
    *, board: Board, rows: Iterable[Mapping[str, Any]], actor: User | None
) -> list[Entry]:
    """Enters the rows of a table. A row with the source and name of an entered one replaces it, so
    that the same table can be loaded again."""
    Board.objects.select_for_update().get(pk=board.pk)
    known = {(each.provenance, each.name): each for each in entered_rows(board)}
    loaded = []
    for row in rows:
        former = known.get((row["provenance"], row["name"]))
        if former is None:
            loaded.append(add_row(board=board, row=row, actor=actor))
        else:
            loaded.append(edit_row(entry=former, row=row, actor=actor))
    return loaded


def _write(entry: Entry, row: Mapping[str, Any]) -> None:
    for name, value in row.items():
        setattr(entry, name, value)
    entry.scores = with_general(row["scores"])
    entry.save()


# The fields of a row that the log keeps besides its card.
_LOGGED = ("kind", "scores", "provenance", "provenance_url")


def _logged(entry: Entry) -> dict[str, Any]:
    card = {
        name: value if isinstance(value, bool | int | None) else str(value)
        for name, value in entry.card().items()
    }
    return card | {name: getattr(entry, name) for name in _LOGGED}


def check_run(*, sample: ItemSample, file: IO[bytes], filename: str, user: User) -> CheckedUpload:
    """Checks the answers against exactly the drawn items, all of which must be answered."""
    return check_upload(
        phase=sample.phase,
        file=file,
        filename=filename,
        user=user,
        only=sample.names,
        rule=RUN_RULE,
    )


def create_human_run(
    *,
    sample: ItemSample,
    owner: User,
    card: Mapping[str, Any],
    file: IO[bytes],
    filename: str,
    checked: CheckedUpload,
) -> Submission:
    """Stores the answers and queues their grading on the drawn items. Its row is published like
    that of any submission. Raises SubmissionRefused."""
    return create_submission(
        phase=sample.phase,
        owner=owner,
        card=card,
        file=file,
        filename=filename,
        checked=checked,
        sample=(sample.seed, sample.names),
    )
