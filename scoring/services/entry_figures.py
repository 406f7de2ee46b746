"""The figures that entries keep: those of their gradings, as far as the phase tells them."""

from scoring.models import Entry, Grading, Phase
from scoring.selectors.telling import told_parts, told_scores

from .ranking import is_ranked_by_replicates, queue_ranking
from .replicates import show_intervals
from .revisions import bump_board

FIGURES = ("scores", "parts", "intervals")


def set_figures(entry: Entry, phase: Phase, grading: Grading) -> None:
    """What the phase rounds is rounded before it is ranked: an order would tell more digits. The
    caller saves FIGURES."""
    entry.grading = grading
    entry.scores, entry.parts = told_scores(phase, grading), told_parts(phase, grading)
    show_intervals(entry, phase)


def retell_entries(phase: Phase) -> None:
    """After the phase's decimals changed: its published rows get the figures that it tells now."""
    entries = Entry.objects.select_for_update(of=("self",)).filter(phase=phase)
    for entry in entries.filter(kind=Entry.Kind.GRADED).order_by("pk"):
        assert entry.grading is not None
        set_figures(entry, phase, entry.grading)
        if not is_ranked_by_replicates(phase):
            entry.ranks, entry.ranked_among = {}, ""
        entry.save(update_fields=[*FIGURES, "ranks", "ranked_among"])
    queue_ranking(phase)
    bump_board(phase.board_id)
