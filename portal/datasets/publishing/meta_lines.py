"""`meta.jsonl` of a release: what is known of its documents beside their content.

In the layout that imports read, and as it stands when the archive is made: metadata may be put
right after a release. Documents whose gold is hidden have no line, since their source is the
answer to be found.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

META_LINES = "meta.jsonl"
LANGUAGE = "language"


@dataclass(frozen=True)
class PublishedMeta:
    """What is told of one document: fields such as `company`, and any others in `metadata`."""

    document: str
    fields: Mapping[str, Any]
    metadata: Mapping[str, Any]


def meta_line(meta: PublishedMeta) -> bytes:
    """One line of JSON; fields without a value are left out, and win over others of their name.

    >>> meta_line(PublishedMeta("p1", {"company": "Acme", "licence": ""}, {"cik": 7}))
    b'{"id": "p1", "company": "Acme", "cik": 7}\\n'
    """
    told = {key: value for key, value in meta.fields.items() if value not in ("", None)}
    others = {key: meta.metadata[key] for key in sorted(meta.metadata) if key not in meta.fields}
    line = {"id": meta.document, **told, **others}
    return (json.dumps(line, ensure_ascii=False) + "\n").encode()
