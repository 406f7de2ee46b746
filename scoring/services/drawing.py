"""Has the charts of boards drawn before somebody asks for them."""

from django.core.cache import cache

from portal.jobs.services import enqueue
from portal.web.conditional import etag_of
from scoring.models import Board

DRAWING_KIND = "draw_charts"
# As long as pictures are kept.
_WEEK = 7 * 24 * 60 * 60


def queue_undrawn() -> int:
    """Queues the published boards that changed since they were last queued; returns how many.

    Two workers that look at the same time queue a board once.
    """
    boards = Board.objects.published().values_list("pk", "revision")
    marks = {etag_of("charts were queued", *each): each[0] for each in boards}
    known = cache.get_many(marks)
    queued = 0
    for mark, pk in marks.items():
        if mark not in known and cache.add(mark, 1, _WEEK):
            enqueue(kind=DRAWING_KIND, payload={"board": pk})
            queued += 1
    return queued
