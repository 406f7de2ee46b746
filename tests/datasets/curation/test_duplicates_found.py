"""Finding near duplicates in a dataset, and deciding on them."""

from typing import Any

import pytest

from portal.accounts.models import User
from portal.audit.models import Event
from portal.datasets.curation.services import check_search, decide_duplicate, find_duplicates
from portal.datasets.dataset_tasks import OptionsError, Steps, TaskStopped, run_here
from portal.datasets.models import Dataset, DatasetTask, Document, NearDuplicate
from tests.datasets.curation.test_duplicates import prose
from tests.factories import empty_dataset, make_document
from tests.fixture_types import ClientOf

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    """`a` and `b` differ in a page number only: 2 · 200 / 410. `c` is different."""
    found = empty_dataset(slug="set")
    words = " ".join(prose(1))
    for name, text in (("a", f"{words} 17"), ("b", f"{words} 18"), ("c", " ".join(prose(2)))):
        make_document(found, name, f"<p>{text}</p>")
    return found


def search(dataset: Dataset, threshold: float = 0.95) -> dict[str, int]:
    task = run_here(
        dataset=dataset,
        kind=DatasetTask.Kind.DUPLICATES,
        run=find_duplicates,
        options={"threshold": threshold},
    )
    counts: dict[str, int] = task.report["counts"]
    return counts


def test_search_keeps_pairs_in_order(dataset: Dataset) -> None:
    counts = search(dataset)
    [pair] = NearDuplicate.objects.all()
    assert (pair.first.name, pair.second.name) == ("a", "b")
    assert pair.similarity == pytest.approx(400 / 410)
    assert counts == {"documents compared": 3, "pairs found": 1, "new pairs": 1}


def test_second_search_keeps_decided_pairs_only(dataset: Dataset, organiser: User) -> None:
    search(dataset)
    pair = NearDuplicate.objects.get()
    assert search(dataset)["new pairs"] == 0
    assert NearDuplicate.objects.get().pk == pair.pk
    # No longer similar enough: the open pair is deleted, a decided one is kept.
    search(dataset, threshold=1.0)
    assert not NearDuplicate.objects.exists()
    search(dataset)
    decide_duplicate(pair=NearDuplicate.objects.get(), decision="kept", actor=organiser)
    search(dataset, threshold=1.0)
    assert NearDuplicate.objects.get().decision == "kept"


def test_search_stops_when_asked(dataset: Dataset) -> None:
    task = DatasetTask.objects.create(dataset=dataset, kind="duplicates")
    with pytest.raises(TaskStopped):
        find_duplicates(task, Steps(lambda *_: None, lambda: True))
    assert not NearDuplicate.objects.exists()


def test_texts_are_read_one_at_a_time(dataset: Dataset, django_assert_max_num_queries: Any) -> None:
    """Each text and each comparison needs one query; the texts are not kept in memory."""
    task = DatasetTask.objects.create(dataset=dataset, kind="duplicates")
    with django_assert_max_num_queries(12):
        find_duplicates(task, Steps(lambda *_: None, lambda: False))


@pytest.mark.parametrize("options", [{"threshold": 0.5}, {"threshold": "x"}, {"other": 1}])
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(OptionsError):
        check_search(options)


@pytest.mark.parametrize(
    ("decision", "states"),
    [
        ("kept", ("active", "active")),
        ("held", ("active", "held")),
        ("held_first", ("held", "active")),
    ],
)
def test_decisions(
    decision: str, states: tuple[str, str], dataset: Dataset, organiser: User
) -> None:
    search(dataset)
    pair = decide_duplicate(pair=NearDuplicate.objects.get(), decision=decision, actor=organiser)
    assert (pair.decision, pair.decided_by) == (decision, organiser)
    assert tuple(Document.objects.filter(name__in="ab").values_list("state", flat=True)) == states
    assert Event.objects.get(verb="decide_near_duplicate").data["before"] == "open"


def test_new_decision_undoes_the_previous_one(dataset: Dataset, organiser: User) -> None:
    search(dataset)
    pair = NearDuplicate.objects.get()
    decide_duplicate(pair=pair, decision="held", actor=organiser)
    assert Document.objects.get(name="b").held_reason == "near-duplicate of a"
    decide_duplicate(pair=pair, decision="held_first", actor=organiser)
    assert list(Document.objects.values_list("state", flat=True)) == ["held", "active", "active"]
    # A document that is held back for another reason stays held back.
    Document.objects.filter(name="a").update(held_reason="blurred")
    decide_duplicate(pair=pair, decision="kept", actor=organiser)
    assert Document.objects.get(name="a").state == "held"


def test_held_documents_are_not_compared(dataset: Dataset) -> None:
    Document.objects.filter(name="b").update(state="held", held_reason="x")
    assert search(dataset) == {"documents compared": 2, "pairs found": 0, "new pairs": 0}


class TestPages:
    def test_list_and_pair(self, dataset: Dataset, organiser: User, client_of: ClientOf) -> None:
        client = client_of(organiser)
        assert "No search yet" in client.get("/datasets/set/duplicates/").content.decode()
        search(dataset)
        pair = NearDuplicate.objects.get()
        assert "0.976" in client.get("/datasets/set/duplicates/").content.decode()
        page = client.get(f"/datasets/set/duplicates/{pair.pk}/").content.decode()
        assert 'src="/datasets/set/documents/a/html/"' in page
        assert 'src="/datasets/set/documents/b/html/"' in page
        assert page.count("<iframe") == page.count(" sandbox ") == 2
        response = client.post(f"/datasets/set/duplicates/{pair.pk}/", {"decision": "held"})
        assert response["Location"] == "/datasets/set/duplicates/"
        only = client.get("/datasets/set/duplicates/?decision=open").content.decode()
        assert "No pairs" in only
        bad = client.post(f"/datasets/set/duplicates/{pair.pk}/", {"decision": "burn"})
        assert bad.status_code == 400

    def test_search_starts_a_task(
        self, dataset: Dataset, organiser: User, client_of: ClientOf
    ) -> None:
        client = client_of(organiser)
        client.post("/datasets/set/duplicates/", {"threshold": "0.92"})
        assert DatasetTask.objects.get().options == {"threshold": 0.92}
        assert client.post("/datasets/set/duplicates/", {"threshold": "0.1"}).status_code == 400

    def test_pair_of_another_dataset_is_not_found(
        self, dataset: Dataset, organiser: User, client_of: ClientOf
    ) -> None:
        search(dataset)
        empty_dataset(slug="other")
        path = f"/datasets/other/duplicates/{NearDuplicate.objects.get().pk}/"
        assert client_of(organiser).get(path).status_code == 404

    @pytest.mark.parametrize("copies", [1, 20])
    def test_list_makes_few_queries(
        self,
        copies: int,
        dataset: Dataset,
        organiser: User,
        client_of: ClientOf,
        django_assert_max_num_queries: Any,
    ) -> None:
        words = " ".join(prose(1))
        for number in range(copies):
            make_document(dataset, f"copy-{number}", f"<p>{words} {100 + number}</p>")
        search(dataset)
        client = client_of(organiser)
        with django_assert_max_num_queries(9):
            client.get("/datasets/set/duplicates/")

    def test_api(self, dataset: Dataset, organiser: User, api_of: Any) -> None:
        search(dataset)
        api = api_of(organiser)
        [row] = api.get("/api/v1/datasets/set/duplicates/").json()["results"]
        assert (row["first"], row["second"]) == ("a", "b")
        path = f"/api/v1/datasets/set/duplicates/{row['id']}/"
        assert api.patch(path, {"decision": "held"}, format="json").json()["decision"] == "held"
        assert Document.objects.get(name="b").state == "held"
        assert api.patch(path, {"decision": "x"}, format="json").status_code == 400
