"""Writes spans into canonical HTML as inline fact tags: the gold form of a document."""

from collections import Counter
from collections.abc import Sequence

from portal.facts.canonical import canonical_text
from portal.facts.fragments import Fragment, enclose, fragments
from portal.facts.labels import require_labels
from portal.facts.spans import Span, check_spans


def write_tags(canonical_html: str, spans: Sequence[Span]) -> str:
    """Canonical HTML with every span inside a tag named by its label: `<Number>1,200</Number>`.

    A span over several text nodes becomes one tag in each, all with the same `id`; nodes of mere
    white space in its middle, or between the cells of a table, get none. Without the tags the
    result is `canonical_html`, character for character. `read_tags` gives the spans back; only an
    edge in white space between table cells moves in to the nearest text. Raises ValueError when
    the spans fail `check_spans` or a label cannot be a tag.
    """
    ordered = sorted(spans)
    labels = sorted({span.label for span in ordered})
    if not ordered:
        return canonical_html
    require_labels(labels)
    if faults := check_spans(canonical_text(canonical_html), ordered, labels):
        raise ValueError("; ".join(fault.message for fault in faults))
    found = list(fragments(canonical_html, ordered))
    counts = Counter(fragment.span for fragment in found)

    def tags(fragment: Fragment) -> tuple[str, str]:
        label = ordered[fragment.span].label
        identity = f' id="f{fragment.span}"' if counts[fragment.span] > 1 else ""
        return f"<{label}{identity}>", f"</{label}>"

    return enclose(canonical_html, found, tags)
