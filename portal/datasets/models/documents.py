"""Datasets and their documents with canonical content.

Content never changes: the base classes here refuse `save` of a stored row, `delete`, and a
QuerySet's `update` and `delete`. The database itself can still clear a deleted account.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any, Generic, NoReturn, TypeVar
from urllib.parse import urlsplit

from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Value
from django.db.models.functions import Concat
from django.db.models.lookups import Exact
from django.urls import reverse

from portal.accounts.models import user_field

Row = TypeVar("Row", bound=models.Model)


class ImmutableRowError(Exception):
    """An immutable row must not be changed or deleted."""

    def __init__(self, model: type[models.Model], act: str) -> None:
        super().__init__(f"a {model._meta.verbose_name} never changes: {act} is refused")


class ImmutableQuerySet(models.QuerySet[Row], Generic[Row]):
    def update(self, **_: Any) -> NoReturn:
        raise ImmutableRowError(self.model, "update")

    def delete(self) -> NoReturn:
        raise ImmutableRowError(self.model, "delete")

    def bulk_create(
        self, objs: Iterable[Row], *args: Any, update_conflicts: bool = False, **kwargs: Any
    ) -> list[Row]:
        if update_conflicts:
            raise ImmutableRowError(self.model, "update")
        return super().bulk_create(objs, *args, **kwargs)


class ImmutableModel(models.Model):
    """A model whose rows are inserted and never changed."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise ImmutableRowError(type(self), "save")
        super().save(*args, **kwargs)

    def delete(self, *_: Any, **__: Any) -> NoReturn:
        raise ImmutableRowError(type(self), "delete")


# Path components of other pages that a slug must not use.
RESERVED_SLUGS = frozenset({"new"})


def check_slug_is_free(slug: str) -> None:
    if slug in RESERVED_SLUGS:
        raise ValidationError(f"“{slug}” is reserved by the site. Choose another name.")


class DatasetQuerySet(models.QuerySet["Dataset"]):
    def public(self) -> "DatasetQuerySet":
        """Datasets that everyone may see; a variant only if its original is public."""
        public = Dataset.Visibility.PUBLIC
        return self.filter(
            models.Q(derived_from=None) | models.Q(derived_from__visibility=public),
            visibility=public,
        )


class Dataset(models.Model):
    class Visibility(models.TextChoices):
        PRIVATE = "private", "private: only organisers can view the dataset"
        PUBLIC = "public", "public: anyone can view the documents"

    slug = models.SlugField(
        max_length=80,
        unique=True,
        validators=[check_slug_is_free],
        help_text="Used in URLs: a–z, digits and hyphens. You cannot change it later.",
    )
    title = models.CharField(max_length=160)
    description = models.TextField(blank=True, help_text="Markdown.")
    licence = models.CharField(
        max_length=160, blank=True, help_text="The licence of the documents."
    )
    visibility = models.CharField(
        max_length=10,
        choices=Visibility,
        default=Visibility.PRIVATE,
        help_text="Even in a public dataset, documents with hidden gold stay hidden.",
    )
    is_sample = models.BooleanField(default=False)
    derived_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="variants"
    )
    derivation = models.JSONField(
        null=True,
        blank=True,
        help_text="{kind, strength, seed, version} of its simulated captures.",
    )
    created_by = user_field()
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DatasetQuerySet.as_manager()

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("datasets:detail", args=[self.slug])

    def clean(self) -> None:
        base, public = self.derived_from, self.Visibility.PUBLIC
        if base is not None and self.visibility == public and base.visibility != public:
            message = f"A variant of “{base}” cannot be public while the original is private."
            raise ValidationError({"visibility": message})

    @property
    def has_pages(self) -> bool:
        """Whether any of its documents has HTML, which campaigns need. One query."""
        return self.documents.filter(kind="page").exists()

    @property
    def simulation(self) -> str:
        """The simulated capture of a stress variant as text; empty for real images."""
        if not self.derivation:
            return ""
        words = str(self.derivation.get("title") or self.derivation["kind"])
        words = words[:1].lower() + words[1:]
        strength = self.derivation["strength"]
        return words if strength is None else f"{words} {strength:g}"


NAME_LENGTH = 160
SOURCE_LENGTH = 80
# Names are used in URLs and in file names on all systems.
_NOT_IN_NAMES = frozenset('\\/:*?"<>|')


def document_name(text: str) -> str:
    """The published id for `text`, in Unicode form NFC; raises ValueError if it is not valid."""
    name = unicodedata.normalize("NFC", text)
    if not name or not name.isprintable() or _NOT_IN_NAMES & set(name):
        raise ValueError(r'an id must have printable characters only, without \ / : * ? " < > |')
    if name[0] in ". " or name[-1] in ". ":
        raise ValueError("an id must not begin or end with a dot or a space")
    if len(name) > NAME_LENGTH:
        raise ValueError(f"an id must have at most {NAME_LENGTH} characters, not {len(name)}")
    return name


def document_source(source_url: str, benchmark: str = "") -> str:
    """The source of a document, for filters: the host of its URL, else its benchmark.

    >>> document_source("https://www.sec.gov/Archives/edgar/data/1/x.htm")
    'sec.gov'
    """
    try:
        host = urlsplit(source_url).hostname or ""
    except ValueError:
        host = ""
    return (host.removeprefix("www.") or benchmark)[:SOURCE_LENGTH]


class DocumentType(models.TextChoices):
    """Kinds of financial documents."""

    FINANCIAL_STATEMENT = "financial_statement", "financial statement"
    SUPPLEMENTAL_REPORT = "supplemental_report", "supplemental report"
    TAX_FORM = "tax_form", "tax form"
    SECURITIES_TRANSACTION = "securities_transaction", "securities transaction"
    FINANCIAL_LEGAL = "financial_legal", "financial legal document"
    OTHER = "other", "other"


# A copy of a document in a stress variant has the document's name. This kind of capture keeps the
# normal images, and adds a rotated copy of each, under a name of its own. A test compares it with
# `variants.captures`.
NORMAL_AND_ROTATED = "normal_and_rotated"
_TURNS = (0, 90, 180, 270)


def copy_name(name: str, degrees: int) -> str:
    """The name of a document's rotated copy."""
    return f"{name}@{degrees}"


def _turned() -> list[Concat]:
    return [Concat("name", Value(copy_name("", degrees))) for degrees in _TURNS]


def names_of_copies(derivation: Mapping[str, Any] | None) -> list[F | Concat]:
    """The names that copies of a document can have in a variant, as expressions."""
    has_turned = (derivation or {}).get("kind") == NORMAL_AND_ROTATED
    return [F("name"), *(_turned() if has_turned else ())]


def is_copied_as(name: Any) -> Q:
    """Whether a copy of the document in any variant can have this name."""
    return reduce(or_, (Q(Exact(each, name)) for each in _turned()), Q(name=name))


# Conditions on release items: their content is the answer to a hidden test, or is public. The dev
# split of a release with hidden gold is open.
_HIDDEN_SPLITS = ("", "test")
_IS_HIDDEN = Q(release__visibility="private") | Q(
    release__visibility="gold_hidden", split__in=_HIDDEN_SPLITS
)
_IS_PUBLIC = Q(release__visibility="public") | Q(release__visibility="gold_hidden", split="dev")


class DocumentQuerySet(models.QuerySet["Document"]):
    def to_label(self) -> "DocumentQuerySet":
        """Documents that a campaign can use: pages that are not held back."""
        return self.filter(kind=Document.Kind.PAGE, state=Document.State.ACTIVE)

    def hidden(self) -> "DocumentQuerySet":
        """Documents whose content is the answer to a hidden test.

        These are frozen in hidden releases, and in no public release or open dev split.
        """
        return self.filter(~self.open_condition())

    def open_condition(self) -> Q:
        """The condition that a document's content is open. A copy in a stress variant is hidden
        whenever its original is. Looks up the releases of each document, so use it for few."""
        originals = self.model.objects.filter(dataset=OuterRef("dataset__derived_from"))
        hidden = originals.filter(is_copied_as(OuterRef("name")), ~self._open_by_releases())
        return self._open_by_releases() & Q(~Exists(hidden))

    def open_condition_in(self, dataset: Dataset) -> Q:
        """The same condition for all documents of a dataset, evaluated once for its releases."""
        condition = self._open_by_items_of(dataset)
        if (base := dataset.derived_from) is None:
            return condition
        hidden = self.model.objects.filter(~self._open_by_items_of(base), dataset=base)
        for name in names_of_copies(dataset.derivation):
            condition &= ~Q(name__in=hidden.values_list(name))
        return condition

    def _open_by_releases(self) -> Q:
        """Whether the document's own releases leave it open."""
        items = self._release_items().filter(document=OuterRef("pk"))
        return Q(~Exists(items.filter(_IS_HIDDEN))) | Q(Exists(items.filter(_IS_PUBLIC)))

    def _open_by_items_of(self, dataset: Dataset) -> Q:
        """The same for all documents of a dataset; looks up releases first to avoid a join."""
        ids: dict[str, list[int]] = {"private": [], "gold_hidden": [], "public": []}
        for pk, visibility in dataset.releases.order_by().values_list("pk", "visibility"):
            ids[visibility].append(pk)
        with_splits = ids["gold_hidden"]
        items = self._release_items().filter(document__isnull=False)
        hidden = items.filter(
            Q(release__in=ids["private"]) | Q(release__in=with_splits, split__in=_HIDDEN_SPLITS)
        )
        of_dev = Q(release__in=with_splits, split="dev")
        public = items.filter(Q(release__in=ids["public"]) | of_dev)
        return ~Q(pk__in=hidden.values("document")) | Q(pk__in=public.values("document"))

    def _release_items(self) -> "models.QuerySet[Any]":
        """Looks the model up by name, because its module imports this one."""
        items: models.Manager[Any] = apps.get_model("datasets", "ReleaseItem")._default_manager
        return items.order_by()


class Document(models.Model):
    """One page of a source. Its content never changes: a changed page is a new document."""

    class Kind(models.TextChoices):
        """A page has canonical HTML and text; a picture has images and a record only."""

        PAGE = "page", "page"
        PICTURE = "picture", "image"

    class State(models.TextChoices):
        ACTIVE = "active", "active"
        HELD = "held", "held back"

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="documents")
    name = models.CharField(
        max_length=NAME_LENGTH, help_text="The published id, unique in the dataset."
    )
    doc_type = models.CharField(max_length=30, choices=DocumentType, default=DocumentType.OTHER)
    company = models.CharField(max_length=200, blank=True)
    form_type = models.CharField(max_length=60, blank=True)
    fiscal_year = models.PositiveSmallIntegerField(null=True, blank=True)
    source_url = models.CharField(max_length=500, blank=True)
    source = models.CharField(
        max_length=SOURCE_LENGTH, blank=True, help_text="The host of its URL, or a benchmark."
    )
    fact_count = models.PositiveIntegerField(
        null=True, help_text="Facts in the newest release with this document; empty without one."
    )
    licence = models.CharField(max_length=300, blank=True)
    metadata = models.JSONField(default=dict)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.PAGE)
    language = models.CharField(
        max_length=12, blank=True, help_text="A language code, such as en or zh."
    )
    category = models.CharField(
        max_length=80, blank=True, help_text="Category of a receipt, benchmark task, or track."
    )
    subset = models.CharField(
        max_length=80, blank=True, help_text="Type of a receipt, subtask, or subset."
    )
    condition = models.CharField(
        max_length=80, blank=True, help_text="Capture condition of the image, or its orientation."
    )
    state = models.CharField(max_length=6, choices=State, default=State.ACTIVE)
    held_reason = models.TextField(blank=True, help_text="Why campaigns and releases leave it out.")
    source_sha256 = models.CharField(max_length=64, help_text="Hash of the imported file.")
    html_sha256 = models.CharField(max_length=64, help_text="Hash of the canonical HTML.")
    text_sha256 = models.CharField(max_length=64, help_text="Hash of the canonical text, in UTF-8.")
    text_chars = models.PositiveIntegerField(help_text="Length of the canonical text, code points.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="document_name_in_dataset"),
            models.UniqueConstraint(
                fields=["dataset", "html_sha256"], name="document_content_in_dataset"
            ),
            models.CheckConstraint(
                condition=Q(text_chars__gt=0) | Q(kind="picture"), name="document_has_text"
            ),
            models.CheckConstraint(
                condition=Q(state="active") | ~Q(held_reason=""), name="document_held_has_reason"
            ),
        ]
        indexes = [
            # Each ends with the key, so that PostgreSQL can find hidden documents without reading
            # the rows. These serve the counts by type, the table and the search.
            models.Index(
                fields=["dataset", "doc_type", "name", "company", "id"], name="document_type"
            ),
            models.Index(fields=["dataset", "name", "company", "id"], name="document_search"),
            # The other filters of the table, each sorted by name.
            models.Index(fields=["dataset", "fiscal_year", "name", "id"], name="document_year"),
            models.Index(fields=["dataset", "source", "name", "id"], name="document_source"),
            models.Index(fields=["dataset", "language", "name", "id"], name="document_language"),
            models.Index(fields=["dataset", "category", "name", "id"], name="document_category"),
            models.Index(fields=["dataset", "subset", "name", "id"], name="document_subset"),
            models.Index(fields=["dataset", "condition", "name", "id"], name="document_condition"),
            models.Index(fields=["dataset", "state", "name", "id"], name="document_state"),
            models.Index(fields=["dataset", "kind", "name", "id"], name="document_kind"),
            models.Index(fields=["dataset", "fact_count", "name", "id"], name="document_facts"),
            models.Index(fields=["dataset", "text_chars", "name", "id"], name="document_size"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("datasets:document", args=[self.dataset.slug, self.name])


class DocumentContent(ImmutableModel):
    """Canonical HTML and text, in a separate table so that lists never load them."""

    document = models.OneToOneField(
        Document, on_delete=models.CASCADE, primary_key=True, related_name="content"
    )
    html = models.TextField()
    text = models.TextField()

    objects = ImmutableQuerySet["DocumentContent"].as_manager()

    def __str__(self) -> str:
        return f"content of {self.document_id}"


class XbrlFacts(ImmutableModel):
    """The inline XBRL tags of the filer, which canonical HTML does not keep.

    Stored as one list per document, because a filing has thousands that are read together.
    """

    document = models.OneToOneField(
        Document, on_delete=models.CASCADE, primary_key=True, related_name="xbrl_facts"
    )
    facts = models.JSONField(
        help_text="[[start, end, kind, concept, {sign, scale, unit, period}], …] in text order; "
        "offsets in code points of the canonical text, kind number or date, concept such as "
        "us-gaap:Revenues. Older rows lack the object; unknown keys are left out."
    )

    objects = ImmutableQuerySet["XbrlFacts"].as_manager()

    def __str__(self) -> str:
        return f"inline XBRL of {self.document_id}"


# Where gold lines have the strata of a document: of receipts, FCMBench and CC-OCR. A line has the
# keys of one benchmark only.
_STRATA: dict[str, tuple[tuple[str, ...], ...]] = {
    "category": (("category",), ("task",), ("track",)),
    "subset": (("fields", "type"), ("subtask",), ("subset",)),
    "condition": (("robustness",), ("orientation",)),
}
STRATA_FIELDS = tuple(_STRATA)


def strata_of(gold: Mapping[str, Any]) -> dict[str, str]:
    """The strata in a gold line, by STRATA_FIELDS; empty where it has none.

    >>> strata_of({"task": "KIE", "robustness": "Out-of-focus"})
    {'category': 'KIE', 'subset': '', 'condition': 'Out-of-focus'}
    """
    return {
        name: next(filter(None, (_text_at(gold, path) for path in paths)), "")
        for name, paths in _STRATA.items()
    }


def _text_at(gold: Any, path: tuple[str, ...]) -> str:
    for key in path:
        gold = gold.get(key) if isinstance(gold, Mapping) else None
    return str(gold).replace("\0", "")[:80] if isinstance(gold, str | int) else ""


class DocumentRecord(ImmutableModel):
    """The imported question and gold of a document that belongs to another benchmark."""

    document = models.OneToOneField(
        Document, on_delete=models.CASCADE, primary_key=True, related_name="record"
    )
    benchmark = models.CharField(max_length=40, help_text="A key of the benchmarks.")
    gold = models.JSONField(help_text="The gold line, as returned by the benchmark's reader.")
    prompt = models.TextField(blank=True, help_text="The prompt of the model; public.")

    objects = ImmutableQuerySet["DocumentRecord"].as_manager()

    def __str__(self) -> str:
        return f"record of {self.document_id}"
