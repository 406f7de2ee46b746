"""What a release holds of a document stays as it is. A document has one version: whatever would
show other images under the same release is refused, by whichever door it comes.
"""

from collections.abc import Sequence

from portal.datasets.models import Document


def release_reason(document: Document) -> str:
    """Why the document's images cannot change; empty while no release holds it.

    To be asked with the document's row locked, as freezing locks it too.
    """
    items = document.release_items.select_related("release").order_by("release__pk")
    versions = [item.release.version for item in items.defer("gold", "facts", "pinned")]
    if not versions:
        return ""
    return (
        f"a release holds this document as it is ({', '.join(versions)}) and never changes; import"
        " the page under another name and use that in the next release"
    )


def is_pinned(document: Document, sha256s: Sequence[str]) -> bool:
    """Whether every release that holds the document has exactly these images, in this order."""
    pinned = document.release_items.values_list("pinned", flat=True)
    return all(
        pins is not None and [image["sha256"] for image in pins["images"]] == list(sha256s)
        for pins in pinned
    )
