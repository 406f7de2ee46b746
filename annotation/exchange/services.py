"""Imports of labels or whole campaigns: uploaded, read by a job, then saved or refused.

A whole campaign is imported completely or not at all.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import IO, Any
from uuid import uuid4

from django.apps import apps
from django.core.exceptions import ValidationError
from django.core.files.base import File
from django.db import IntegrityError, models, transaction

from annotation.errors import Refused
from annotation.models import (
    Campaign,
    CampaignDocument,
    CampaignImport,
    GuidelinesVersion,
    Membership,
)
from annotation.workbench.suggestions import FAULTS_KEPT, SOURCE_NAME, end_upload
from portal.accounts.models import User, display_name
from portal.audit.models import record_event
from portal.datasets.imports.opening import printable
from portal.datasets.models import Document, DocumentContent
from portal.facts import Span, check_labels, check_spans
from portal.files.uploads import archive_limits
from portal.jobs.services import enqueue

from .formats import (
    KINDS,
    NAMING_ASSIGNMENTS,
    NUMBERED,
    SETTINGS,
    SUFFIXES,
    ArchiveContent,
    Kind,
    Line,
    read_archive,
)
from .label_imports import Kept, ReadLabels, keep_labels, read_labels
from .selectors import import_group, people_called

TEXTS_KEPT = 16
SHOWN = 10
_AT_ONCE = 500


def require_empty_draft(campaign: Campaign) -> None:
    """Raises Refused unless the campaign is a draft without documents."""
    if campaign.state != Campaign.State.DRAFT:
        raise Refused("You can import a whole campaign only into a draft.", code="state")
    if CampaignDocument.objects.filter(campaign=campaign).exists():
        raise Refused(
            "This campaign already has documents. Import into a new campaign.", code="not_empty"
        )


@transaction.atomic
def keep_archive(*, campaign: Campaign, content: ArchiveContent, people: Mapping[str, str]) -> Kept:
    """Fills an empty draft, which keeps its title, slug and dataset.

    Documents are matched by their text; rows about others are left out and reported. People are
    matched by the email address in `people` or the archive, otherwise by the pseudonym of this
    site. Raises Refused, with nothing written, for unknown people and for invalid rows.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_empty_draft(locked)
    _set(locked, content.settings)
    GuidelinesVersion.objects.filter(campaign=locked).delete()
    writing = _Writing(locked, content, _accounts(content, people))
    try:
        for kind in KINDS:
            writing.write(kind)
        writing.name_assignments()
    except IntegrityError as error:
        raise Refused(f"The archive is inconsistent: {error}", code="archive") from error
    return writing.kept()


def _set(campaign: Campaign, settings: Mapping[str, Any]) -> None:
    for name in SETTINGS:
        where = f"campaign.json: settings.{name}"
        value = _cleaned(Campaign, name, settings[name], where)
        if name == "labels":
            listed = isinstance(value, list) and all(isinstance(item, str) for item in value)
            if problems := check_labels(value) if listed else ["must be a list of strings"]:
                raise _fault(where, problems[0])
        setattr(campaign, name, value)
    campaign.save(update_fields=SETTINGS)


def _accounts(content: ArchiveContent, people: Mapping[str, str]) -> dict[str, User]:
    """The account of everyone the archive refers to."""
    names = {
        person: people.get(person) or row.get("email") or person
        for person, row in content.people.items()
    }
    accounts = people_called(names.values())
    if missing := [person for person, name in names.items() if name.lower() not in accounts]:
        listed = ", ".join(f"{p} ({content.people[p]['name'][:60]})" for p in missing[:SHOWN])
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        raise Refused(
            f"No account found for {listed}{more}. Create the accounts, and export the campaign "
            "with email addresses or map each person to an account.",
            code="people",
        )
    return {person: accounts[name.lower()] for person, name in names.items()}


class _Writing:
    """Writes the rows kind by kind, and maps their numbers to the new rows.

    A number that maps to None is a row that was left out, with all rows that refer to it.
    """

    def __init__(
        self, campaign: Campaign, content: ArchiveContent, accounts: Mapping[str, User]
    ) -> None:
        self._campaign = campaign
        self._content = content
        self._accounts = accounts
        self._made: dict[str, list[models.Model | None]] = {file: [] for file in NUMBERED}
        self._documents = _Documents(campaign)
        self._faults: list[str] = []
        self._spans = 0

    def kept(self) -> Kept:
        made = self._made["documents"]
        documents = [row for row in made if row is not None]
        if withheld := self._content.withheld:
            self._faults.append(
                f"{withheld} documents have no labels in the archive, because not all annotators "
                "had submitted them; they must be annotated again"
            )
        rejected = len(made) - len(documents)
        return Kept(len(documents), self._spans, rejected=rejected, faults=self._faults)

    def write(self, kind: Kind) -> None:
        model = apps.get_model("annotation", kind.model)
        rows = [(line, self._row(kind, model, line)) for line in self._content.rows[kind.file]]
        made = [row for _, row in rows if row is not None]
        if kind.file == "members":
            self._make_room(made)
        model._base_manager.bulk_create(made, batch_size=_AT_ONCE)
        if kind.times:
            self._restore(kind, model, rows)
        if kind.file in NUMBERED:
            self._made[kind.file] = [row for _, row in rows]
        if kind.file in {"spans", "gold_spans"}:
            self._spans += len(made)
            self._check_places(kind, rows)

    def name_assignments(self) -> None:
        """Replaces the numbers of assignments in JSON by their keys."""
        for file, names in NAMING_ASSIGNMENTS.items():
            rows = [row for row in self._made[file] if row is not None]
            for row in rows:
                for name in names:
                    entries = [self._with_key(entry) for entry in getattr(row, name)]
                    setattr(row, name, entries)
            if rows:
                type(rows[0])._base_manager.bulk_update(rows, names, batch_size=_AT_ONCE)

    def _with_key(self, entry: dict[str, Any]) -> dict[str, Any]:
        number = entry["assignment"]
        work = self._made["assignments"]
        if number is not None and not 1 <= number <= len(work):
            raise _fault("assignment", f"there is no assignment {number}")
        row = work[number - 1] if number is not None else None
        return entry | {"assignment": row.pk if row is not None else None}

    def _row(self, kind: Kind, model: type[models.Model], line: Line) -> models.Model | None:
        values: dict[str, Any] = {"campaign": self._campaign} if kind.owner == "campaign" else {}
        for name, target in kind.refs.items():
            number = line.row[name]
            if number is None:
                values[name] = _cleaned(model, name, None, f"{line.where}: {name}")
                continue
            made = self._made[target]
            if not 1 <= number <= len(made):
                raise _fault(f"{line.where}: {name}", f"there is no row {number} in {target}")
            if (row := made[number - 1]) is None:
                return None
            values[name] = row
        if kind.file == "documents":
            name = line.row["name"]
            document = self._documents.find(name, line.row["text_sha256"])
            if document is None:
                wanted = f"{name} (text {str(line.row['text_sha256'])[:12]}…)"
                reason = f"not imported: the dataset has no document {wanted}"
                self._faults.append(f"{line.where}: {reason}")
                return None
            if document.name != name:
                note = f"{name} became {document.name}, which has the same text"
                self._faults.append(f"{line.where}: {note}")
            values["document"] = document
        for name in kind.people:
            values[name] = self._account(model, name, line)
        for name in kind.fields:
            values[name] = _cleaned(model, name, line.row[name], f"{line.where}: {name}")
        return model(**values)

    def _account(self, model: type[models.Model], name: str, line: Line) -> User | None:
        person = line.row[name]
        if person is None:
            _cleaned(model, name, None, f"{line.where}: {name}")
            return None
        if person not in self._accounts:
            raise _fault(f"{line.where}: {name}", f"{person[:40]} is not in people.jsonl")
        return self._accounts[person]

    def _make_room(self, made: list[models.Model]) -> None:
        """Deletes memberships that the archive replaces."""
        for row in made:
            assert isinstance(row, Membership)
            Membership.objects.filter(
                campaign=self._campaign, user=row.user_id, role=row.role
            ).delete()

    def _restore(
        self, kind: Kind, model: type[models.Model], rows: list[tuple[Line, models.Model | None]]
    ) -> None:
        """Restores times that the database has set."""
        made = []
        for line, row in rows:
            if row is not None:
                for name in kind.times:
                    value = _cleaned(model, name, line.row[name], f"{line.where}: {name}")
                    setattr(row, name, value)
                made.append(row)
        model._base_manager.bulk_update(made, kind.times, batch_size=_AT_ONCE)

    def _check_places(self, kind: Kind, rows: list[tuple[Line, models.Model | None]]) -> None:
        """Raises Refused for a span that does not match its quote or overlaps another."""
        groups: dict[Any, list[tuple[Line, Any]]] = defaultdict(list)
        for line, row in rows:
            if row is not None:
                groups[_owner_of(row)].append((line, row))
        labels = self._campaign.labels
        for owner, members in groups.items():
            text = self._documents.text(_document_of(owner))
            for line, row in members:
                if text[row.start : row.end] != row.quote:
                    raise _fault(f"{line.where}: quote", "differs from the text of the document")
            spans = [Span(row.start, row.end, row.label) for _, row in members]
            for fault in check_spans(text, spans, labels):
                raise _fault(members[fault.index][0].where, fault.message)


class _Documents:
    """The documents of the campaign's dataset by their text."""

    def __init__(self, campaign: Campaign) -> None:
        self._by_text: dict[str, dict[str, Document]] = defaultdict(dict)
        for document in Document.objects.filter(dataset=campaign.dataset_id).order_by("name"):
            self._by_text[document.text_sha256][document.name] = document
        self.text = lru_cache(maxsize=TEXTS_KEPT)(_text)

    def find(self, name: object, text_sha256: object) -> Document | None:
        """The document with the text, preferably with the name. Returns each only once."""
        alike = self._by_text.get(str(text_sha256), {})
        chosen = str(name) if str(name) in alike else next(iter(alike), None)
        return alike.pop(chosen) if chosen is not None else None


def _text(document: int) -> str:
    return DocumentContent.objects.values_list("text", flat=True).get(pk=document)


def _owner_of(row: Any) -> Any:
    return row.assignment if hasattr(row, "assignment_id") else row.campaign_document


def _document_of(owner: Any) -> int:
    row = owner if isinstance(owner, CampaignDocument) else owner.campaign_document
    return int(row.document_id)


def _cleaned(model: type[models.Model], name: str, value: Any, where: str) -> Any:
    """The value cleaned by the model's field; raises Refused if it is invalid."""
    field = model._meta.get_field(name)
    assert isinstance(field, models.Field)
    if value is None:
        if not field.null:
            raise _fault(where, "must not be empty")
        return None
    if problem := _type_problem(field, value):
        raise _fault(where, problem)
    try:
        if isinstance(field, models.JSONField):
            return value
        return field.clean(value, None)
    except ValidationError as error:
        raise _fault(where, error.messages[0]) from error


_TYPES: tuple[tuple[type, tuple[type, ...], str], ...] = (
    (models.BooleanField, (bool,), "true or false"),
    (models.IntegerField, (int,), "a whole number"),
    (models.FloatField, (int, float), "a number"),
    (models.CharField, (str,), "a string"),
    (models.TextField, (str,), "a string"),
    (models.DateTimeField, (str,), "a time"),
)


def _type_problem(field: "models.Field[Any, Any]", value: Any) -> str:
    """The fault of a value with the wrong type: fields would convert it silently."""
    for kind, types, words in _TYPES:
        if isinstance(field, kind):
            return "" if type(value) in types else f"must be {words}"
    return ""


def _fault(where: str, reason: str) -> Refused:
    return Refused(f"{where}: {reason}", code="archive")


Form = CampaignImport.Form
Layer = CampaignImport.Layer
Content = ReadLabels | ArchiveContent


@transaction.atomic
def new_import(
    *,
    campaign: Campaign,
    form: str,
    layer: str,
    annotator: User | None,
    actor: User | None,
    file: "File[bytes] | None" = None,
    source_name: str = "",
    accept_unplaced: int = 0,
) -> CampaignImport:
    """Starts an import. A `file` is stored, and a job reads it; otherwise the caller reads it.

    The job passes `accept_unplaced` on to `keep_import`.
    Raises Refused for a wrong file type, for a whole campaign unless the target is an empty draft,
    for a campaign in the wrong state, and for work without an annotator of the campaign.
    """
    name = printable(source_name or (file and file.name) or "")
    suffix = next((s for s in SUFFIXES[form] if name.lower().endswith(s)), "")
    if not suffix:
        wanted = " or ".join(SUFFIXES[form])
        raise Refused(f"{name}: {Form(form).label} must be a {wanted} file.", code="file")
    if form == Form.FULL:
        layer, annotator = "", None
        require_empty_draft(campaign)
    else:
        annotator = _checked_annotator(campaign, layer, annotator)
    started = CampaignImport.objects.create(
        campaign=campaign,
        created_by=actor,
        source_name=name[-SOURCE_NAME:],
        upload=File(file.file, name=f"{uuid4().hex}{suffix}") if file else "",
        form=form,
        layer=layer,
        annotator=annotator,
    )
    record_event(
        verb="import_labels", subject=started, actor=actor, source=started.source_name, form=form,
        layer=layer, annotator=annotator.pk if annotator else None, accept_unplaced=accept_unplaced,
    )  # fmt: skip
    if file:
        payload = {"import": started.pk, "accept_unplaced": accept_unplaced}
        enqueue(kind="import_labels", payload=payload, group=import_group(started))
    return started


def _checked_annotator(campaign: Campaign, layer: str, annotator: User | None) -> User | None:
    if layer not in Layer.values:
        raise Refused(f"Import the labels as one of: {', '.join(Layer.values)}.", code="layer")
    if layer == Layer.GOLD:
        if campaign.state == Campaign.State.CLOSED:
            raise Refused("The campaign is closed. Reopen it to import gold.", code="state")
        return None
    if campaign.state != Campaign.State.OPEN:
        raise Refused("Open the campaign before you import labels.", code="state")
    role = Membership.Role.ANNOTATOR
    if annotator is None:
        raise Refused("Select the annotator of the labels.", code="annotator")
    if not Membership.objects.filter(campaign=campaign, user=annotator, role=role).exists():
        message = f"{display_name(annotator)} is not an annotator of this campaign."
        raise Refused(message, code="annotator")
    return annotator


def read_import(
    campaign_import: CampaignImport, file: IO[bytes], *, progress: Callable[[int], None]
) -> Content:
    """Reads the file. Writes nothing; raises ArchiveFault if the file as a whole is unusable."""
    if campaign_import.form == Form.FULL:
        return read_archive(file, archive_limits(), progress=progress)
    return read_labels(campaign_import, file, progress=progress)


@transaction.atomic
def keep_import(
    *,
    campaign_import: CampaignImport,
    content: Content,
    people: dict[str, str] | None = None,
    accept_unplaced: int = 0,
) -> CampaignImport:
    """Writes the content and finishes the import; `people` maps pseudonyms to email addresses.

    Documents with labels that have no place are written only if `accept_unplaced` is the number of
    these labels in the file. Raises Refused, with nothing written, if the campaign cannot take the
    content.
    """
    if isinstance(content, ArchiveContent):
        written = keep_archive(
            campaign=campaign_import.campaign, content=content, people=people or {}
        )
    else:
        written = keep_labels(campaign_import, content, accept_unplaced=accept_unplaced)
    return end_upload(
        campaign_import,
        CampaignImport.State.DONE,
        verb="import_done",
        documents=written.documents,
        spans=written.spans,
        moved=written.moved,
        rejected=written.rejected,
        faults=written.faults[:FAULTS_KEPT],
        fault_count=len(written.faults),
    )


@transaction.atomic
def fail_import(*, campaign_import: CampaignImport, error: str) -> None:
    """Marks the import as failed with the reason."""
    end_upload(campaign_import, CampaignImport.State.FAILED, verb="import_failed", error=error)
