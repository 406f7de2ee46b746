"""The data of datasets about a user, for data exports and account deletion."""

from collections.abc import Iterator
from typing import Any

from portal.accounts.account_data import DataSource, Fate, Table, counted
from portal.accounts.models import User
from portal.datasets.models import (
    Dataset,
    Dispute,
    ImportRun,
    Inspection,
    LicenceAcceptance,
    Release,
)


class DatasetData(DataSource):
    def tables(self, user: User) -> Iterator[Table]:
        yield Table("disputes", "Gold facts you disputed.", _disputes(user))
        yield Table("licences", "Releases whose licence you accepted.", _licences(user))
        yield Table("datasets", "Datasets, imports and releases you created.", _made(user))

    def fate(self, user: User) -> Fate:
        stays = []
        if disputes := Dispute.objects.filter(raised_by=user).count():
            stays.append(f"{counted(disputes, 'dispute')} you raised.")
        if any(True for _ in _made(user)) or Inspection.objects.filter(inspector=user).exists():
            stays.append("Datasets, imports, inspections and releases you created.")
        return Fate(stays=stays)

    def let_go(self, user: User) -> None:
        """Do nothing: datasets have nothing to hand over."""

    def erase(self, user: User) -> None:
        LicenceAcceptance.objects.filter(user=user).delete()


def _disputes(user: User) -> Iterator[dict[str, Any]]:
    rows = Dispute.objects.filter(raised_by=user).select_related("item__release__dataset")
    for row in rows.order_by("pk").iterator():
        yield {
            "dataset": row.item.release.dataset.slug,
            "release": row.item.release.version,
            "item": row.item.name,
            "fact": row.fact,
            "claim": row.claim,
            "reason": row.reason,
            "state": row.state,
            "at": row.raised_at,
        }


def _licences(user: User) -> Iterator[dict[str, Any]]:
    rows = LicenceAcceptance.objects.filter(user=user).select_related("release__dataset")
    for row in rows.order_by("pk").iterator():
        yield {
            "dataset": row.release.dataset.slug,
            "release": row.release.version,
            "at": row.accepted_at,
        }


def _made(user: User) -> Iterator[dict[str, Any]]:
    for dataset in Dataset.objects.filter(created_by=user).order_by("pk").iterator():
        yield {"kind": "dataset", "name": dataset.slug, "at": dataset.created_at}
    for run in ImportRun.objects.filter(created_by=user).order_by("pk").iterator():
        yield {"kind": "import", "name": run.source_name, "at": run.created_at}
    frozen = Release.objects.filter(frozen_by=user).select_related("dataset").order_by("pk")
    for release in frozen.iterator():
        name = f"{release.dataset.slug} {release.version}"
        yield {"kind": "release", "name": name, "at": release.frozen_at}
