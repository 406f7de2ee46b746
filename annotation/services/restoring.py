"""Restoring: an earlier revision becomes the newest one. History only ever grows."""

from annotation.models import Assignment
from annotation.selectors.spans import spans_at
from portal.accounts.models import User

from .saving import Saved, save_spans


def restore_revision(
    *, assignment: Assignment, number: int, base_revision: int, save_key: str, author: User
) -> Saved:
    """Saves the spans again that were there after revision `number`, which must exist.

    Raises what `save_spans` raises.
    """
    return save_spans(
        assignment=assignment,
        base_revision=base_revision,
        save_key=save_key,
        spans=[draft._asdict() for draft in spans_at(assignment, number)],
        author=author,
        note=f"restored revision {number}",
    )
