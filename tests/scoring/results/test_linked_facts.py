"""One fact of an item, highlighted by the server in list, page image, gold and prediction."""

import re

import pytest
from django.core.files.base import ContentFile

from portal.accounts.models import User
from portal.datasets.models import Document, PageImage, TextBoxes
from portal.facts.markup import RefusedHtml
from scoring.models import Submission
from scoring.results import items
from scoring.results.facts import PER_PAGE
from tests.fixture_types import ClientOf, RunJobs
from tests.pages import text_of
from tests.scoring.factories import FLAWED, make_board, make_release, make_submission

pytestmark = pytest.mark.django_db


def add_image(name: str, quote: str) -> PageImage:
    """An image of a page with a text box for one quote only."""
    document = Document.objects.get(name=name)
    image = PageImage(document=document, width=800, height=600, sha256="ab" * 32)
    image.file.save("page.png", ContentFile(b"image"), save=False)
    image.save()
    start = document.content.text.index(quote)
    box = [start, start + len(quote), 400, 300, 60, 20]
    TextBoxes.objects.create(image=image, boxes=[box])
    return image


def numbers_of(text: str) -> list[int]:
    """The facts of the list, in its order."""
    return [int(n) for n in re.findall(r'<tr id="fact-(\d+)"', text)]


def current_of(text: str) -> list[str]:
    return re.findall(r'data-fact="(\d+)" aria-current="true"', text)


def item_url(submission: Submission, name: str = "page-1") -> str:
    return f"/submissions/{submission.pk}/items/{name}/"


def test_a_fact_that_is_asked_for_is_highlighted_everywhere(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    add_image("page-1", "(350)")
    client = client_of(researcher)
    text = text_of(client, f"{item_url(graded)}?fact=1")
    assert current_of(text) == ["1"]
    assert 'id="place-1" class="wrong current" x="400.0"' in text
    for side, value in (("gold", "(350)"), ("prediction", "350")):
        assert f'src="{item_url(graded)}{side}/?fact=1#fact-1"' in text
        framed = text_of(client, f"{item_url(graded)}{side}/?fact=1")
        marks = re.findall(r'<span id="fact-1"><mark class="(.+?)" data-fact="1"', framed)
        assert marks == ["wrong current"]
        assert f">{value}</mark>" in framed
        assert framed.count("current") - framed.count("mark.current") == 1


def test_without_a_place_the_prediction_is_shown_near_it(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs
) -> None:
    """The second of three facts is missing."""
    gold = "".join(f"<p>Item {n} <Number>{n}{n},000</Number></p>" for n in (1, 2, 3))
    read = "<p>Item 1 11,000</p><p>Item 2</p><p>Item 3 33,000</p>"
    submission = make_submission(make_board(make_release({"p": gold})), researcher, {"p": read})
    run_jobs()
    client, url = client_of(researcher), item_url(submission, "p")
    for n, near in ((0, 0), (1, 0), (2, 2)):
        text = text_of(client, f"{url}?fact={n}")
        assert f'src="{url}gold/?fact={n}#fact-{n}"' in text
        assert f'src="{url}prediction/?fact={n}#fact-{near}"' in text


@pytest.mark.parametrize("asked", ["", "99", "x", "-1"])
def test_without_a_known_fact_none_is_highlighted(
    client_of: ClientOf, graded: Submission, researcher: User, asked: str
) -> None:
    client = client_of(researcher)
    text = text_of(client, f"{item_url(graded)}?fact={asked}")
    assert current_of(text) == []
    assert f'src="{item_url(graded)}gold/"' in text


def test_wrong_facts_come_first_and_one_can_go_from_one_to_the_next(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs
) -> None:
    """Facts 1 and 3 of five are wrong."""
    gold = " ".join(f"<p>Item {n} <Number>{n}{n},000</Number></p>" for n in range(1, 6))
    read = gold.replace("<Number>", "").replace("</Number>", "")
    read = read.replace("22,000", "29,000").replace("44,000", "49,000")
    submission = make_submission(make_board(make_release({"p": gold})), researcher, {"p": read})
    run_jobs()
    client, url = client_of(researcher), item_url(submission, "p")

    def steps(query: str) -> list[str]:
        found = re.findall(
            r'data-step="(\w+)".*?fact=(\w+)#facts"( hidden)?', text_of(client, query)
        )
        return [f"{step} {n}" for step, n, hidden in found if not hidden]

    assert numbers_of(text_of(client, url)) == [1, 3, 0, 2, 4]
    assert steps(url) == ["next 1"]
    assert steps(f"{url}?fact=1") == ["next 3"]
    assert steps(f"{url}?fact=2") == ["previous 1", "next 3"]
    assert steps(f"{url}?fact=3") == ["previous 1"]


def test_facts_are_paged_and_the_page_of_the_fact_is_opened(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs
) -> None:
    count = PER_PAGE + 2
    gold = " ".join(f"<p>Item {n} <Number>{n}.5</Number></p>" for n in range(count))
    read = gold.replace("<Number>", "").replace("</Number>", "")
    submission = make_submission(make_board(make_release({"p": gold})), researcher, {"p": read})
    run_jobs()
    client, url = client_of(researcher), item_url(submission, "p")
    assert numbers_of(text_of(client, url)) == list(range(PER_PAGE))
    assert numbers_of(text_of(client, f"{url}?page=2")) == [PER_PAGE, PER_PAGE + 1]
    assert numbers_of(text_of(client, f"{url}?fact={PER_PAGE + 1}")) == [PER_PAGE, PER_PAGE + 1]
    assert numbers_of(text_of(client, f"{url}?fact=1&page=2")) == [PER_PAGE, PER_PAGE + 1]
    facts = client.get(f"/api/v1{url}").json()["facts"]
    assert [fact["n"] for fact in facts] == list(range(count)), "the API has all, in order"


def test_a_filter_that_leaves_the_fact_out_is_ignored(
    client_of: ClientOf, graded: Submission, researcher: User
) -> None:
    client = client_of(researcher)
    assert numbers_of(text_of(client, f"{item_url(graded)}?facts=wrong")) == [1]
    assert numbers_of(text_of(client, f"{item_url(graded)}?facts=wrong&fact=1")) == [1]
    assert numbers_of(text_of(client, f"{item_url(graded)}?facts=wrong&fact=0")) == [1, 0, 2]


def test_one_can_go_to_the_items_with_errors(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs
) -> None:
    """Of five items the second and the last are wrong."""
    gold = {f"p{n}": f"<p>Item <Number>{n},000</Number></p>" for n in range(5)}
    read = {name: f"<p>Item {name[1]},000</p>" for name in gold} | {
        "p1": "<p>x</p>",
        "p4": "<p>x</p>",
    }
    submission = make_submission(make_board(make_release(gold)), researcher, read)
    run_jobs()
    client = client_of(researcher)

    def ways(name: str) -> list[tuple[str, str]]:
        text = text_of(client, item_url(submission, name))
        return re.findall(r'aria-keyshortcuts="Shift\+(\w)".*?/items/(\w+)/"', text)

    assert ways("p2") == [("P", "p1"), ("N", "p4")]
    assert ways("p1") == [("N", "p4")]
    assert ways("p4") == [("P", "p1")]


def test_a_prediction_that_cannot_be_cleaned_is_marked_as_text(
    client_of: ClientOf, researcher: User, run_jobs: RunJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(html: str) -> str:
        raise RefusedHtml("too deep", "depth")

    submission = make_submission(make_board(), researcher, FLAWED)
    run_jobs()
    monkeypatch.setattr(items, "clean_html", refuse)
    text = text_of(client_of(researcher), f"{item_url(submission)}prediction/?fact=1")
    assert ">350</mark>" in text
    assert text.count("<mark ") == 3


@pytest.mark.parametrize("visibility", ["gold_hidden", "private"])
def test_a_fact_of_hidden_gold_opens_no_page(
    client_of: ClientOf,
    researcher: User,
    organiser: User,
    run_jobs: RunJobs,
    visibility: str,
) -> None:
    """Where organisers chose to show every fact of hidden gold, it is listed only."""
    release = make_release(visibility=visibility)
    image = add_image("page-1", "(350)")
    submission = make_submission(make_board(release), researcher, FLAWED)
    run_jobs()
    url = f"{item_url(submission)}?fact=1"
    for user in (researcher, organiser):
        text = text_of(client_of(user), url)
        assert current_of(text) == ["1"]
        assert "<iframe" not in text
        assert image.get_absolute_url() not in text
        for side in ("gold", "prediction"):
            refused = client_of(user).get(f"{item_url(submission)}{side}/?fact=1")
            assert refused.status_code == 404
