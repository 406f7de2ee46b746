"""Django's admin shows the rows of annotation, read-only."""

from collections.abc import Callable

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from annotation.models import (
    Campaign,
    Comment,
    ModelSuggestions,
    OfferedSuggestions,
    Revision,
    Span,
    SuggestionUpload,
)
from portal.accounts.models import User
from tests.conftest import make_user
from tests.worlds import shared

from .factories import comment, save, work_of

pytestmark = pytest.mark.django_db

MODELS = [model for model in admin.site._registry if model._meta.app_label == "annotation"]


@pytest.fixture
def staff(db: None, client_of: Callable[[User | None], Client]) -> Client:
    return client_of(make_user("Staff", is_staff=True, is_superuser=True))


@pytest.fixture
@shared
def commented(disputed: Campaign, ann: User) -> Campaign:
    """A campaign with a row of every model."""
    work = work_of(ann, disputed)
    comment(work)
    upload = SuggestionUpload.objects.create(campaign=disputed, source_name="marks.jsonl")
    ModelSuggestions.objects.create(
        campaign_document=work.campaign_document, upload=upload, spans=[]
    )
    OfferedSuggestions.objects.create(campaign_document=work.campaign_document, suggestions=[])
    return disputed


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.model_name)
def test_rows_can_be_looked_at_but_not_changed(
    model: type, commented: Campaign, staff: Client
) -> None:
    name = f"admin:annotation_{model._meta.model_name}"  # type: ignore[attr-defined]
    row = model._default_manager.first()  # type: ignore[attr-defined]
    assert staff.get(reverse(f"{name}_changelist")).status_code == 200
    assert staff.get(reverse(f"{name}_add")).status_code == 403
    assert staff.get(reverse(f"{name}_change", args=[row.pk])).status_code == 200
    assert staff.post(reverse(f"{name}_change", args=[row.pk])).status_code == 403
    assert staff.get(reverse(f"{name}_delete", args=[row.pk])).status_code == 403


def test_all_models_are_registered() -> None:
    assert len(MODELS) == 13


def test_labels_of_unsettled_documents_are_not_there(
    campaign: Campaign, ann: User, staff: Client
) -> None:
    save(work_of(ann, campaign), ("Number", "(310)"))
    comment(work_of(ann, campaign), "This (310) is odd.")
    span, revision, row = Span.objects.get(), Revision.objects.get(), Comment.objects.get()
    assert "(310)" not in staff.get("/admin/annotation/span/").content.decode()
    assert staff.get(f"/admin/annotation/span/{span.pk}/change/").status_code == 302
    assert staff.get(f"/admin/annotation/revision/{revision.pk}/change/").status_code == 302
    assert staff.get(f"/admin/annotation/comment/{row.pk}/change/").status_code == 302
