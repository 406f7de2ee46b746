"""Releases: frozen, versioned and hashed gold, the only link from annotation to scoring.

`releases.services.freeze_release` creates releases; they never change afterwards. `Version` is
their semantic version: MAJOR.MINOR.PATCH with an optional pre-release, such as 1.0.0-rc.1.
"""

import re
from dataclasses import dataclass
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from portal.accounts.models import user_field

from .documents import (
    Dataset,
    Document,
    ImmutableModel,
    ImmutableQuerySet,
    ImmutableRowError,
)


class JsonLength(models.Func):
    """The length of a JSON list, computed by the database."""

    function = "JSON_ARRAY_LENGTH"
    output_field = models.IntegerField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return super().as_sql(compiler, connection, function="JSONB_ARRAY_LENGTH", **context)


class ReleaseQuerySet(ImmutableQuerySet["Release"]):
    def listed(self) -> "ReleaseQuerySet":
        """Releases that everyone may see."""
        return self.exclude(visibility=Release.Visibility.PRIVATE)

    def with_gold_of(self, release: "Release") -> "ReleaseQuerySet":
        """Releases with the same items and gold, such as those of stress variants."""
        sha256 = release.same_gold
        return self.filter(models.Q(gold_sha256=sha256) | models.Q(gold_sha256="", sha256=sha256))


class Release(ImmutableModel):
    """An immutable version of a dataset's gold."""

    class Visibility(models.TextChoices):
        PUBLIC = "public", "public: documents, images and gold"
        GOLD_HIDDEN = "gold_hidden", "gold hidden: only images, IDs and prompts"
        PRIVATE = "private", "private: organisers only"

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="releases")
    version = models.CharField(max_length=32, help_text="Semantic version, such as 1.0.0.")
    notes = models.TextField(blank=True, help_text="The changes in this version, in Markdown.")
    visibility = models.CharField(max_length=12, choices=Visibility, default=Visibility.GOLD_HIDDEN)
    benchmark = models.CharField(max_length=40, default="fincriticaled")
    labels = models.JSONField(default=list, help_text="The label set of the gold.")
    scheme = models.CharField(
        max_length=12,
        default="release-v1",
        help_text="How `sha256` is computed and what it covers; see publishing.manifest.",
    )
    sha256 = models.CharField(max_length=64, help_text="The published hash, following `scheme`.")
    gold_sha256 = models.CharField(
        max_length=64,
        blank=True,
        help_text="Hash of one line “sha256  name” per item, sorted; equal for equal gold. "
        "Empty in older releases, where `sha256` is this hash.",
    )
    about = models.JSONField(
        null=True,
        help_text="{dataset, title, description, licence, keywords, notes, frozen_at} as the "
        "release was frozen; null in older releases, which show the dataset's current state.",
    )
    item_count = models.PositiveIntegerField()
    fact_count = models.PositiveIntegerField()
    licence = models.CharField(
        max_length=160,
        blank=True,
        help_text="If set, users must accept it before they download gold.",
    )
    citation = models.JSONField(
        default=dict, help_text="{authors: [name, …], year, doi, url}: how to cite the release."
    )
    draw = models.JSONField(
        default=dict,
        help_text="{share, seed, group_by, …} and the outcome of a drawn split; empty if none was"
        " drawn.",
    )
    frozen_by = user_field()
    frozen_at = models.DateTimeField(default=timezone.now)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        ordering = ["dataset", "-frozen_at"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "version"], name="release_version_once")
        ]

    def __str__(self) -> str:
        return f"{self.dataset} {self.version}"

    def get_absolute_url(self) -> str:
        return reverse("datasets:release", args=[self.dataset.slug, self.version])

    @property
    def has_pages(self) -> bool:
        """Whether gold is pages with fact tags, rather than lines of another benchmark."""
        return bool(self.labels)

    @property
    def same_gold(self) -> str:
        """The hash of names and gold lines only, independent of the published hash's scheme."""
        return self.gold_sha256 or self.sha256

    @property
    def is_gold_public(self) -> bool:
        return self.visibility == self.Visibility.PUBLIC

    @property
    def hidden_splits(self) -> list[str]:
        """The splits whose gold is hidden; "" for items without a split."""
        return [split for split in ("", *ReleaseItem.Split.values) if not self.opens(split)]

    def opens(self, split: str) -> bool:
        """Whether the gold of this split is public."""
        is_dev = self.visibility == self.Visibility.GOLD_HIDDEN and split == ReleaseItem.Split.DEV
        return self.is_gold_public or is_dev


class ReleaseItem(ImmutableModel):
    """One frozen item: its gold line as the benchmark reads it, and its facts with offsets."""

    class Split(models.TextChoices):
        DEV = "dev", "development"
        TEST = "test", "test"

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="items")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=160, help_text="The published id.")
    split = models.CharField(
        max_length=4,
        choices=Split,
        blank=True,
        help_text="With hidden gold, dev is open and test is hidden; empty without splits.",
    )
    document = models.ForeignKey(
        Document, null=True, on_delete=models.PROTECT, related_name="release_items"
    )
    gold = models.JSONField(help_text="The canonical gold line of the benchmark.")
    facts = models.JSONField(default=list, help_text="[{n, type, value, start, end}, …]")
    pinned = models.JSONField(
        null=True,
        help_text="{document, prompt, images: [{name, path, sha256}, …], meta: a line of "
        "meta.jsonl, text_chars, text_sha256} as frozen; null in older releases, which show "
        "the document's current state.",
    )
    sha256 = models.CharField(max_length=64, help_text="Hash of the gold line's canonical JSON.")

    objects = ImmutableQuerySet["ReleaseItem"].as_manager()

    class Meta:
        ordering = ["release", "position"]
        constraints = [
            models.UniqueConstraint(fields=["release", "name"], name="release_item_name_once"),
            models.UniqueConstraint(fields=["release", "position"], name="release_item_position"),
        ]
        # Hidden documents are looked up for a whole release at once.
        indexes = [
            models.Index(fields=["release", "split", "document"], name="release_item_documents")
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *_: Any, **__: Any) -> None:
        """Always refused: the items of a release are created with it, in bulk."""
        raise ImmutableRowError(type(self), "save")


class LicenceAcceptance(models.Model):
    """A user accepted the licence of a release, which is required before a download."""

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="acceptances")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    accepted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["release", "user"], name="licence_accepted_once")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} accepted the licence of {self.release}"


class Dispute(models.Model):
    """A report that a gold fact is wrong. The next release corrects accepted disputes."""

    class State(models.TextChoices):
        OPEN = "open"
        ACCEPTED = "accepted"
        DECLINED = "declined"
        WITHDRAWN = "withdrawn"

    item = models.ForeignKey(ReleaseItem, on_delete=models.PROTECT, related_name="disputes")
    fact = models.PositiveIntegerField(
        null=True, help_text="Number of the fact in the item, from 0; empty if a fact is missing."
    )
    claim = models.TextField(help_text="The correct value.")
    reason = models.TextField()
    raised_by = user_field("disputes")
    raised_at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    answer = models.TextField(blank=True)
    correction = models.JSONField(
        null=True,
        help_text="If accepted: {act: change, remove or add, type, value, start, end}; null if the "
        "gold is changed by hand.",
    )
    decided_by = user_field()
    decided_at = models.DateTimeField(null=True, help_text="Decided or withdrawn.")
    settled_in = models.ForeignKey(
        Release,
        null=True,
        on_delete=models.PROTECT,
        related_name="settled_disputes",
        help_text="The release that corrects an accepted dispute.",
    )

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state="open", decided_at__isnull=True)
                | (~models.Q(state="open") & models.Q(decided_at__isnull=False)),
                name="dispute_decided_has_time",
            )
        ]

    def __str__(self) -> str:
        return f"dispute {self.pk}"


_NUMBER = r"(0|[1-9][0-9]{0,8})"
_PART = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_PART}(?:\.{_PART})*))?")
_LONGEST = 32


@dataclass(frozen=True)
class Version:
    """A version, ordered by semver.org 2.0.0 §11. Build metadata is not accepted.

    >>> Version.parse("1.0.0-rc.2") < Version.parse("1.0.0-rc.10") < Version.parse("1.0.0")
    True
    """

    numbers: tuple[int, int, int]
    pre: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError with the reason."""
        match = _VERSION.fullmatch(text)
        if match is None or len(text) > _LONGEST:
            raise ValueError(f"{text!r:.60} is not a semantic version such as 1.0.0 or 1.1.0-rc.1")
        major, minor, patch, pre = match.groups()
        return cls((int(major), int(minor), int(patch)), tuple(pre.split(".")) if pre else ())

    def __lt__(self, other: "Version") -> bool:
        return self._key < other._key

    def __str__(self) -> str:
        suffix = "-" + ".".join(self.pre) if self.pre else ""
        return ".".join(map(str, self.numbers)) + suffix

    @property
    def _key(self) -> tuple[tuple[int, int, int], bool, list[tuple[bool, int, str]]]:
        """Orders by numbers, then pre-releases before the release, numeric parts before words."""
        parts = [(False, int(part), "") if part.isdigit() else (True, 0, part) for part in self.pre]
        return self.numbers, not self.pre, parts

    def next_patch(self) -> "Version":
        """The next version to suggest."""
        major, minor, patch = self.numbers
        return Version((major, minor, patch if self.pre else patch + 1))
