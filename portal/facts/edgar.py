"""The SGML envelope that EDGAR puts around the documents of a submission.

<SEC-DOCUMENT> ... <DOCUMENT> <TYPE>10-K <SEQUENCE>1 <FILENAME>x.htm <TEXT> (the document) </TEXT>
</DOCUMENT>
"""

import re
from typing import NamedTuple

from portal.facts.errors import RefusedHtml

_DOCUMENT = re.compile(r"<DOCUMENT>\s*<TYPE>([^\n<]*)", re.IGNORECASE)
_HTML_BEGINS = re.compile(r"<(?:html|body)[\s>]", re.IGNORECASE)
_TEXT = re.compile(r"<TEXT>", re.IGNORECASE)
_TEXT_ENDS = re.compile(r"</TEXT>\s*(?:</DOCUMENT>|\Z)", re.IGNORECASE)


class Envelope(NamedTuple):
    """The document inside, and a sentence for each thing that was left out with the envelope."""

    content: str
    notes: tuple[str, ...] = ()


def open_envelope(html: str) -> Envelope:
    """Takes the first document out of an EDGAR envelope; anything else comes back as it is.

    The first document of a submission is the filing itself; exhibits and graphics follow and are
    named in the notes. Raises RefusedHtml when the first document is a PDF.
    """
    documents = list(_DOCUMENT.finditer(html))
    if not documents:
        return Envelope(html)
    first = documents[0]
    begins = _HTML_BEGINS.search(html)
    if begins and begins.start() < first.start():
        return Envelope(html)
    limit = documents[1].start() if len(documents) > 1 else len(html)
    text = _TEXT.search(html, first.end(), limit)
    start = text.end() if text else first.end()
    ends = _TEXT_ENDS.search(html, start, limit)
    content = html[start : ends.start() if ends else limit]
    if content.lstrip()[:5].upper() == "<PDF>":
        raise RefusedHtml("the submission's first document is a PDF, not HTML", "binary")
    left_out = [match[1].strip() or "untyped" for match in documents[1:]]
    if not left_out:
        return Envelope(content)
    kept = first[1].strip() or "untyped"
    note = f"took document 1 of {len(documents)} ({kept}); left out: {', '.join(left_out)}"
    return Envelope(content, (note,))
