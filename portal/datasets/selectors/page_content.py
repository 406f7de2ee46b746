"""Which of the required content a page has, computed when it is looked at."""

from portal.datasets.curation.content_rules import CONTENTS, Content, find_content
from portal.datasets.models import Document

CONTENT_LABELS: dict[Content, str] = {
    "numeric_table": "numeric table",
    "footnote": "footnote",
    "dated_reference": "dated reference",
}
# A longer page is a whole filing, and would keep its reader waiting.
MOST_CHARACTERS = 200_000


def page_content(document: Document) -> list[str] | None:
    """What the page has, in words; None for a picture and for a page that is too long."""
    if document.kind == Document.Kind.PICTURE or document.text_chars > MOST_CHARACTERS:
        return None
    found = find_content(document.content.html)
    return [CONTENT_LABELS[content] for content in CONTENTS if content in found]
