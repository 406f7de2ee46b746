"""What a whole campaign is as an archive: its files, and what is on the lines of each. No Django.

A ZIP of `campaign.json` and of one file of JSON Lines for every kind of row, in an order in which
each line refers to earlier ones only. Rows are numbered from 1 within their file; a reference is
such a number. People have pseudonyms, see `people.jsonl`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

FORMAT = "factboard-campaign"
VERSION = 1
HEAD = "campaign.json"
PEOPLE = "people"

# What of a campaign is set: copied into the campaign that the archive is brought into.
SETTINGS = (
    "labels", "overlap", "guidelines", "guidelines_version", "suggestion_sources", "screening",
    "agreement_threshold", "review_pages", "review_share", "qualification_f1", "state",
)  # fmt: skip
_OF_DOCUMENT = {"campaign_document": "documents"}
_OF_ASSIGNMENT = {"assignment": "assignments"}


@dataclass(frozen=True)
class Kind:
    """Rows of one model.

    `owner` leads from a row to its campaign, `document` to its campaign document where it tells of
    labels, and is left empty where it does not. `fields` are copied, `refs` point at rows of
    another kind, `people` at accounts; `times` are set by the database and have to be restored.
    `left_out` says which fields an archive does not have.
    """

    file: str
    model: str
    owner: str
    fields: tuple[str, ...]
    refs: Mapping[str, str] = field(default_factory=dict)
    people: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    document: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.refs, *self.people, *self.fields, *self.times)


_SPAN = ("label", "start", "end", "quote", "value", "sign")

KINDS = (
    Kind(
        "members", "Membership", "campaign", ("role", "seen_guidelines", "qualified_at"),
        people=("user",),
    ),
    Kind(
        "guidelines", "GuidelinesVersion", "campaign", ("number", "text", "note"),
        people=("author",), times=("created_at",),
    ),
    Kind(
        "review_rounds", "ReviewRound", "campaign",
        (
            "number", "seed", "share", "pages", "facts", "population", "guidelines_version",
            "state", "closed_at",
        ),
        people=("opened_by",), times=("opened_at",),
    ),
    Kind(
        "documents", "CampaignDocument", "campaign",
        ("stage", "purpose", "overlap", "faults", "settled_at", "gold_at"),
        refs={"review_round": "review_rounds"},
        # Told by name and by the hash of the text.
        left_out=("document",),
    ),
    Kind(
        "screenings", "Screening", "campaign_document__campaign",
        ("verdict", "faults", "reason"), refs=_OF_DOCUMENT,
        people=("screened_by",), times=("screened_at",),
    ),
    Kind(
        "known_gold", "KnownGold", "campaign_document__campaign", ("spans", "source"),
        refs=_OF_DOCUMENT,
    ),
    Kind(
        "assignments", "Assignment", "campaign_document__campaign",
        (
            "state", "revision", "active_seconds", "flag", "flag_reason", "return_reason",
            "submitted_at",
        ),
        refs=_OF_DOCUMENT, people=("annotator",), times=("created_at",),
    ),
    Kind(
        "spans", "Span", "assignment__campaign_document__campaign", ("key", *_SPAN, "edited"),
        refs=_OF_ASSIGNMENT, document="assignment__campaign_document",
    ),
    Kind(
        "first_submissions", "FirstSubmission", "assignment__campaign_document__campaign",
        ("spans", "submitted_at"),
        refs=_OF_ASSIGNMENT, document="assignment__campaign_document",
    ),
    Kind(
        "revisions", "Revision", "assignment__campaign_document__campaign",
        ("number", "save_key", "digest", "added", "removed", "active_seconds", "note"),
        refs=_OF_ASSIGNMENT, people=("author",), times=("saved_at",),
        document="assignment__campaign_document",
    ),
    Kind(
        "comments", "Comment", "assignment__campaign_document__campaign",
        ("span_key", "text", "edited_at"),
        refs=_OF_ASSIGNMENT, people=("author",), times=("created_at",),
        document="assignment__campaign_document",
    ),
    Kind(
        "qualification_results", "QualificationResult", "assignment__campaign_document__campaign",
        ("attempt", "matched", "marked", "expected"),
        refs=_OF_ASSIGNMENT, times=("created_at",), document="assignment__campaign_document",
    ),
    Kind(
        "cases", "Case", "campaign_document__campaign",
        (
            "start", "end", "kind", "proposals", "score", "state", "decision", "reason",
            "decided_at",
        ),
        refs=_OF_DOCUMENT, people=("decided_by",), document="campaign_document",
    ),
    Kind(
        "decisions", "Decision", "case__campaign_document__campaign",
        ("choice", "proposal", "spans", "reason"),
        refs={"case": "cases"}, people=("decided_by",), times=("decided_at",),
        document="case__campaign_document",
    ),
    Kind(
        "gold_spans", "GoldSpan", "campaign_document__campaign", (*_SPAN, "origin"),
        refs=_OF_DOCUMENT | {"case": "cases"}, document="campaign_document",
    ),
    Kind(
        "review_items", "ReviewItem", "campaign_document__campaign",
        (
            "position", *_SPAN, "verdict", "correction", "reason", "guidelines_version",
            "decided_at",
        ),
        refs={"round": "review_rounds"} | _OF_DOCUMENT, people=("reviewer",),
        document="campaign_document",
    ),
)  # fmt: skip

# Kinds that others refer to: their rows tell their number.
NUMBERED = frozenset(target for kind in KINDS for target in kind.refs.values())
# JSON lists whose entries name an assignment.
NAMING_ASSIGNMENTS = MappingProxyType({"documents": ("faults",), "cases": ("proposals",)})

# Work of which nobody may know yet is told as if it were not begun.
UNTOUCHED = MappingProxyType(
    {
        "revision": 0,
        "active_seconds": 0,
        "flag": "",
        "flag_reason": "",
        "return_reason": "",
        "submitted_at": None,
    }
)
