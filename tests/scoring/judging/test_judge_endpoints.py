"""A board's own judge endpoint: setting, testing and removing it, and its secret key."""

import io
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from portal.accounts.account_data import sources
from portal.accounts.models import User
from portal.audit.models import Event
from portal.jobs.models import Job
from scoring.judging.runs import start_judge_run
from scoring.judging.services import (
    JudgingRefused,
    judge_model_of,
    open_board_judge,
    remove_endpoint,
    set_endpoint,
    try_judge,
)
from scoring.judging.views import EndpointForm
from scoring.models import Board, JudgeEndpoint, JudgeRun, JudgeSpending, Submission
from scoring.models.judging import Extras, read_headers
from tests.fixture_types import ApiOf, ClientOf, RunJobs
from tests.scoring.factories import make_board
from tests.scoring.judge.server import MODEL, JudgeServer, Reply, Script, status
from tests.scoring.judges import COST, endpoint_values

pytestmark = pytest.mark.django_db
# Runs ask the judge from several threads, with connections of their own.
in_threads = pytest.mark.django_db(transaction=True)

KEY = "sk-board-XyZ-4711"
URL = "/boards/board/judge/endpoint/"


@pytest.fixture(autouse=True)
def _settings(settings: Any, tmp_path: Path) -> None:
    """The site has its own judge, where nothing listens, and its own key."""
    settings.JUDGE_BASE_URL, settings.JUDGE_MODEL = "http://127.0.0.1:9/v1", "of-the-site"
    settings.JUDGE_API_KEY = "sk-of-the-site"
    settings.JUDGE_CACHE, settings.JUDGE_ATTEMPTS = tmp_path / "answers", 1
    settings.JUDGE_CONCURRENCY = 2


def give(
    board: Board,
    url: str,
    key: str | None = KEY,
    query: str | None = None,
    headers: Mapping[str, str] | None = None,
    **changes: Any,
) -> JudgeEndpoint:
    return set_endpoint(
        board=board,
        values=endpoint_values(url, **changes),
        key=key,
        actor=None,
        query=query,
        headers=headers,
    )


def same(call: Any) -> Reply:
    """A right answer to the question of a trial."""
    return Reply('{"same": true, "why": "equal"}')


def sent(url: str, **changes: str) -> dict[str, str]:
    """The form as a browser sends it."""
    whole = {
        "base_url": url,
        "model": MODEL,
        "key": "",
        "price_input": "1000",
        "price_output": "2000",
        "budget": "",
        "calls_per_minute": "0",
    }
    return whole | changes


@in_threads
class TestAsking:
    def test_a_run_goes_to_the_boards_endpoint_with_its_key(
        self, server: JudgeServer, board: Board, published: Submission, run_jobs: RunJobs
    ) -> None:
        give(board, server.url)
        run = start_judge_run(submission=published, budget=None, actor=None)
        run_jobs()
        run.refresh_from_db()
        assert (run.model, run.state, run.unscored) == (MODEL, "done", {})
        assert {call.headers["authorization"] for call in server.calls} == {f"Bearer {KEY}"}
        assert run.usage["cost"] == pytest.approx(3 * COST) == JudgeSpending.objects.get().amount

    def test_other_boards_keep_the_settings_judge(self, server: JudgeServer, board: Board) -> None:
        give(board, server.url)
        other = make_board(slug="other")
        assert (judge_model_of(board), judge_model_of(other)) == (MODEL, "of-the-site")

    def test_the_environments_keys_never_go_to_a_boards_address(
        self, server: JudgeServer, board: Board, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
            monkeypatch.setenv(f"OPENAI_{name}", "of-the-site")
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Of-The-Site: of-the-site")
        server.script = same
        give(board, server.url, key="")
        assert try_judge(board=board, actor=None).fault == ""
        headers = server.calls[0].headers
        assert headers["authorization"] == "Bearer none"
        assert "of-the-site" not in str(headers)

    def test_another_model_than_wanted_is_refused_with_both_names(
        self, server: JudgeServer, board: Board
    ) -> None:
        give(board, server.url)
        with (
            pytest.raises(JudgingRefused, match=f"endpoint has {MODEL}, but former is required"),
            open_board_judge(board, "former"),
        ):
            pass

    def test_a_run_whose_board_changed_its_model_fails_and_says_so(
        self, server: JudgeServer, board: Board, published: Submission, run_jobs: RunJobs
    ) -> None:
        give(board, server.url)
        run = start_judge_run(submission=published, budget=None, actor=None)
        give(board, server.url, model="another")
        Job.objects.filter(group=run.job_group).update(max_attempts=1)
        run_jobs()
        run.refresh_from_db()
        assert run.state == "failed"
        assert f"has another, but {MODEL} is required" in run.error
        assert server.calls == []

    def test_a_key_of_another_secret_is_refused_before_anything_is_queued(
        self, server: JudgeServer, board: Board, published: Submission, settings: Any
    ) -> None:
        give(board, server.url)
        settings.SECRET_KEY = "n" * 50
        with pytest.raises(JudgingRefused, match="Enter the key again"):
            start_judge_run(submission=published, budget=None, actor=None)
        assert not JudgeRun.objects.exists()

    def test_a_budget_of_a_run_needs_the_endpoints_prices(
        self, server: JudgeServer, board: Board, published: Submission, settings: Any
    ) -> None:
        settings.JUDGE_PRICE_INPUT = 1.0
        give(board, server.url, price_input=0.0, price_output=0.0)
        with pytest.raises(JudgingRefused, match="Set the prices of the board's endpoint"):
            start_judge_run(submission=published, budget=1.0, actor=None)


class TestSetting:
    def test_the_key_is_kept_encrypted_and_stays_when_none_is_given(self, board: Board) -> None:
        give(board, "http://a.example/v1")
        row = give(board, "http://a.example/v1", key=None, model="other")
        row.refresh_from_db()
        assert row.read_key() == KEY
        assert KEY not in row.sealed_key
        assert KEY not in repr(row.__dict__)
        assert JudgeEndpoint.objects.count() == 1

    @pytest.mark.parametrize(
        "url", ["http://b.example/v1", "https://a.example/v1", "http://a.example/v2"]
    )
    def test_at_another_address_the_key_is_dropped(self, board: Board, url: str) -> None:
        give(board, "http://a.example/v1")
        assert not give(board, url, key=None).has_key

    def test_at_another_address_a_key_entered_again_goes_along(self, board: Board) -> None:
        give(board, "http://a.example/v1")
        assert give(board, "http://b.example/v1", key="sk-2").read_key() == "sk-2"

    def test_events_tell_what_became_of_the_key_and_never_what_it_is(self, board: Board) -> None:
        give(board, "http://a.example/v1", key=None)
        give(board, "http://a.example/v1")
        give(board, "http://a.example/v1", key=None)
        give(board, "http://a.example/v1", key="sk-2")
        give(board, "http://b.example/v1", key=None)
        give(board, "http://b.example/v1", key="sk-3")
        give(board, "http://b.example/v1", key="")
        remove_endpoint(board=board, actor=None)
        events = list(Event.objects.order_by("id"))
        acts = [event.data.get("key") for event in events if event.verb == "set_judge_endpoint"]
        assert acts == ["none", "set", "kept", "changed", "dropped", "set", "dropped"]
        assert events[-1].verb == "remove_judge_endpoint"
        assert not any("sk-" in str(event.data) for event in events)

    def test_saved_again_a_kept_key_is_sealed_under_the_present_secret(
        self, board: Board, settings: Any
    ) -> None:
        give(board, "http://a.example/v1")
        settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "n" * 50
        give(board, "http://a.example/v1", key=None)
        settings.SECRET_KEY_FALLBACKS = []
        assert JudgeEndpoint.objects.get().read_key() == KEY
        settings.SECRET_KEY = "l" * 50
        assert give(board, "http://a.example/v1", key=None, model="m").is_key_lost

    def test_removed_the_key_is_gone_and_the_settings_judge_is_back(self, board: Board) -> None:
        give(board, "http://a.example/v1")
        assert remove_endpoint(board=board, actor=None)
        assert not remove_endpoint(board=board, actor=None)
        assert judge_model_of(board) == "of-the-site"
        assert Event.objects.filter(verb="remove_judge_endpoint").count() == 1

    def test_a_budget_without_prices_cannot_even_be_stored(self, board: Board) -> None:
        with pytest.raises(IntegrityError), transaction.atomic():
            give(board, "http://a.example/v1", price_input=0.0, price_output=0.0, budget=1.0)

    def test_dumps_and_accounts_have_no_key(self, board: Board, organiser: User) -> None:
        row = give(board, "http://a.example/v1")
        JudgeEndpoint.objects.update(set_by=organiser)
        dump = io.StringIO()
        call_command("dumpdata", "scoring.judgeendpoint", stdout=dump)
        assert "a.example" in dump.getvalue()
        tables = [table for source in sources() for table in source.tables(organiser)]
        exported = str([list(table.rows) for table in tables])
        for text in (dump.getvalue(), exported):
            assert KEY not in text
            assert row.sealed_key not in text


class TestForm:
    @pytest.mark.parametrize(
        ("field", "value", "words"),
        [
            ("base_url", "", "required"),
            ("base_url", "ftp://a.example/v1", "http:// or https://"),
            ("base_url", "a.example/v1", "http:// or https://"),
            ("base_url", "http:///v1", "name a host"),
            ("base_url", "http://me:word@a.example/v1", "must not contain a user name"),
            ("base_url", "https://a.example/v1?key=schlüssel", "only ASCII"),
            ("base_url", "https://a.example/v1#x", "“#”"),
            ("base_url", "https://a.example/v 1", "spaces"),
            ("base_url", "http://a.example:99999/v1", "valid URL"),
            ("base_url", "http://[::1/v1", "valid URL"),
            ("base_url", "http://a..example/v1", "not a valid host name"),
            ("base_url", f"https://a.example/{'v' * 300}", "at most 300"),
            ("model", "", "required"),
            ("model", "two words", "without spaces"),
            ("model", "a,facts-1", "without spaces"),
            ("model", "a(b)", "without spaces"),
            ("model", "m" * 101, "at most 100"),
            ("key", "sk-ü", "ASCII"),
            ("key", "sk 1", "ASCII"),
            ("key", "k" * 501, "at most 500"),
            ("price_input", "-1", "greater than or equal to 0"),
            ("price_output", "nan", "number"),
            ("budget", "inf", "number"),
            ("budget", "-0.5", "greater than or equal to 0"),
            ("calls_per_minute", "1.5", "whole number"),
        ],
    )
    def test_what_cannot_be_is_refused_at_its_field(
        self, field: str, value: str, words: str
    ) -> None:
        form = EndpointForm(sent("https://a.example/v1") | {field: value}, endpoint=None)
        assert not form.is_valid()
        assert list(form.errors) == [field]
        assert words in str(form.errors[field])

    def test_a_budget_needs_a_price(self) -> None:
        free = sent("http://a.example/v1", budget="5", price_input="0", price_output="0")
        form = EndpointForm(free, endpoint=None)
        assert "A budget needs prices" in str(form.errors["budget"])
        assert EndpointForm(free | {"price_output": "2"}, endpoint=None).is_valid()

    @pytest.mark.parametrize("name", ["qwen3:32b", "openai/gpt-5.1", "m" * 100])
    def test_names_and_addresses_that_are_taken(self, name: str) -> None:
        form = EndpointForm(sent("http://127.0.0.1:11434/v1/", model=name), endpoint=None)
        assert form.is_valid(), form.errors
        assert form.values()["base_url"] == "http://127.0.0.1:11434/v1"


class TestPage:
    def test_from_nothing_to_an_endpoint_and_back(
        self, client_of: ClientOf, board: Board, organiser: User, server: JudgeServer
    ) -> None:
        client = client_of(organiser)
        manage = client.get("/boards/board/judge/manage/").content.decode()
        assert f'href="{URL}"' in manage
        assert "Judge: <code>of-the-site</code>" in manage
        first = client.get(URL).content.decode()
        assert "of-the-site" in first
        assert "Remove endpoint" not in first
        saved = client.post(URL, sent(server.url, key=KEY, budget="5"), follow=True)
        page = saved.content.decode()
        said = [str(message) for message in saved.context["messages"]]
        assert said == [f"Endpoint saved. {MODEL} is now the judge of this board."]
        assert "with a key" in page
        assert (
            f"Judge: <code>{MODEL}</code>"
            in client.get("/boards/board/judge/manage/").content.decode()
        )
        assert str(organiser) in page
        assert JudgeEndpoint.objects.get().set_by == organiser
        back = client.post(f"{URL}remove/", follow=True).content.decode()
        assert "of-the-site" in back
        assert client.post(f"{URL}remove/", follow=True).status_code == 200

    def test_the_key_is_on_no_page(
        self, client_of: ClientOf, board: Board, organiser: User, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        client = client_of(organiser)
        answers = [
            client.post(URL, sent("nowhere", key=KEY)),
            client.post(URL, sent("http://127.0.0.1:9/v1", key=KEY), follow=True),
            client.get(URL),
            client.get("/boards/board/judge/manage/"),
            client.post(f"{URL}try/", follow=True),
        ]
        assert answers[0].status_code == 400
        row = JudgeEndpoint.objects.get()
        assert row.read_key() == KEY
        for told in (*(answer.content.decode() for answer in answers), caplog.text):
            assert KEY not in told
            assert row.sealed_key not in told

    def test_empty_keeps_the_key_and_a_tick_forgets_it(
        self, client_of: ClientOf, board: Board, organiser: User
    ) -> None:
        client, url = client_of(organiser), "http://a.example/v1"
        give(board, url)
        client.post(URL, sent(url))
        assert JudgeEndpoint.objects.get().read_key() == KEY
        both = client.post(URL, sent(url, key="sk-2", forget_key="on"))
        assert (both.status_code, JudgeEndpoint.objects.get().read_key()) == (400, KEY)
        client.post(URL, sent(url, forget_key="on"))
        assert not JudgeEndpoint.objects.get().has_key

    def test_at_another_address_it_says_that_the_key_was_dropped(
        self, client_of: ClientOf, board: Board, organiser: User
    ) -> None:
        give(board, "http://a.example/v1")
        client = client_of(organiser)
        assert "If the URL changes" in client.get(URL).content.decode()
        told = client.post(URL, sent("http://b.example/v1"), follow=True).content.decode()
        assert "its key, query and headers were deleted" in told
        assert not JudgeEndpoint.objects.get().has_key

    def test_a_lost_key_is_told(
        self, client_of: ClientOf, board: Board, organiser: User, settings: Any
    ) -> None:
        give(board, "http://a.example/v1")
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "n" * 50
        client = client_of(organiser)
        assert "Enter the key again" not in client.get(URL).content.decode()
        settings.SECRET_KEY_FALLBACKS = []
        client = client_of(organiser)
        assert "Enter the key again" in client.get(URL).content.decode()
        tried = client.post(f"{URL}try/", follow=True).content.decode()
        assert "Enter the key again" in tried


@in_threads
class TestTrying:
    def test_an_answer_is_told_with_its_tokens_and_counted(
        self, client_of: ClientOf, board: Board, organiser: User, server: JudgeServer
    ) -> None:
        server.script = same
        give(board, server.url, budget=5.0)
        page = client_of(organiser).post(f"{URL}try/", follow=True).content.decode()
        assert "100 input and 50 output tokens, which cost 0.200000" in page
        assert len(server.calls) == 1
        spent = JudgeSpending.objects.get()
        assert (spent.what, spent.is_open) == ("try", False)
        assert spent.amount == pytest.approx(COST)

    def test_every_trial_is_a_call_and_nothing_is_kept(
        self, board: Board, server: JudgeServer, tmp_path: Path
    ) -> None:
        server.script = same
        give(board, server.url)
        for _ in range(2):
            assert try_judge(board=board, actor=None).fault == ""
        assert len(server.calls) == 2
        assert not (tmp_path / "answers").exists()

    @pytest.mark.parametrize(
        ("script", "words"),
        [
            (status(401), "check URL, model and key"),
            (status(500), "no answer after 1 attempts: HTTP 500"),
            (lambda _: Reply("Yes!"), "cannot be used"),
        ],
    )
    def test_what_is_wrong_is_told_in_words(
        self,
        board: Board,
        server: JudgeServer,
        script: Script,
        words: str,
    ) -> None:
        server.script = script
        give(board, server.url)
        assert words in try_judge(board=board, actor=None).fault

    def test_nobody_listens(self, client_of: ClientOf, board: Board, organiser: User) -> None:
        give(board, "http://127.0.0.1:9/v1")
        page = client_of(organiser).post(f"{URL}try/", follow=True).content.decode()
        assert "the connection was refused" in page

    def test_without_budget_left_nothing_is_asked(self, board: Board, server: JudgeServer) -> None:
        give(board, server.url, budget=0.0)
        trial = try_judge(board=board, actor=None)
        assert "the board's budget of 0 for" in trial.fault
        assert server.calls == []

    def test_the_settings_judge_can_be_tried_too(
        self, board: Board, server: JudgeServer, settings: Any
    ) -> None:
        server.script, settings.JUDGE_BASE_URL = same, server.url
        trial = try_judge(board=board, actor=None)
        assert (trial.model, trial.fault) == ("of-the-site", "")
        assert server.calls[0].headers["authorization"] == "Bearer sk-of-the-site"
        assert not JudgeSpending.objects.exists()

    def test_where_no_judge_is_set_it_says_which_setting_is_missing(
        self, client_of: ClientOf, board: Board, organiser: User, settings: Any
    ) -> None:
        settings.JUDGE_MODEL = ""
        client = client_of(organiser)
        assert "No judge endpoint is configured" in client.get(URL).content.decode()
        page = client.post(f"{URL}try/", follow=True).content.decode()
        assert "JUDGE_MODEL is not set" in page


QUERY = "api-version=2024-10-21&sig=query-secret-1"
HEADERS = "api-key: {key}\nX-Team: header-secret-2"
VALUES = ("2024-10-21", "query-secret-1", "header-secret-2", KEY)
NAMES = "api-version, sig, api-key, X-Team"


class TestQueryAndHeaders:
    @in_threads
    def test_calls_send_them_and_the_key_once(self, server: JudgeServer, board: Board) -> None:
        server.script = same
        give(board, server.url, query=QUERY, headers=read_headers(HEADERS))
        assert try_judge(board=board, actor=None).fault == ""
        [call] = server.calls
        assert call.headers[":path"].endswith(f"/chat/completions?{QUERY}")
        assert call.headers["api-key"] == KEY
        assert call.headers["x-team"] == "header-secret-2"
        assert "authorization" not in call.headers

    @pytest.mark.parametrize("purpose", ["judge", "model"])
    def test_page_and_api_show_names_and_never_values(
        self, board: Board, client_of: ClientOf, api_of: ApiOf, organiser: User, purpose: str
    ) -> None:
        api = f"/api/v1/boards/board/{purpose}-endpoint/"
        page = f"/boards/board/{'judge/endpoint' if purpose == 'judge' else 'runs/endpoint'}/"
        form = sent(f"https://a.example/v1?{QUERY}", key=KEY, headers=HEADERS)
        assert client_of(organiser).post(page, form).status_code == 302
        row = JudgeEndpoint.objects.get(purpose=purpose)
        assert row.base_url == "https://a.example/v1"
        assert row.read_extras() == Extras(QUERY, read_headers(HEADERS))
        shown = client_of(organiser).get(page).content.decode()
        assert f"Stored: {NAMES}." in shown
        answer = api_of(organiser).get(api)
        assert answer.json()["extra_names"] == NAMES.split(", ")
        dump = io.StringIO()
        call_command("dumpdata", "scoring.judgeendpoint", stdout=dump)
        events = str([event.data for event in Event.objects.all()])
        for text in (shown, answer.content.decode(), dump.getvalue(), events, str(row.__dict__)):
            assert [value for value in VALUES if value in text] == []

    def test_they_are_kept_replaced_and_deleted(
        self, board: Board, client_of: ClientOf, organiser: User
    ) -> None:
        client, page = client_of(organiser), "/boards/board/judge/endpoint/"

        def extras(url: str, **changes: str) -> Extras:
            answer = client.post(page, sent(url, **changes))
            assert answer.status_code == 302, answer.content.decode()
            return JudgeEndpoint.objects.get().read_extras()

        url, headers = "https://a.example/v1", {"X-Team": "1"}
        assert extras(f"{url}?a=1", headers="X-Team: 1") == Extras("a=1", headers)
        assert extras(url, model="other") == Extras("a=1", headers)
        assert extras(f"{url}?a=2") == Extras("a=2", headers)
        assert extras(url, forget_extras="on") == Extras()
        extras(f"{url}?a=1", headers="X-Team: 1")
        assert extras("https://b.example/v1") == Extras()

    def test_a_page_with_an_error_does_not_show_them(
        self, board: Board, client_of: ClientOf, organiser: User
    ) -> None:
        form = sent(f"https://a.example/v1?{QUERY}", headers=HEADERS, model="two words")
        shown = client_of(organiser).post(URL, form).content.decode()
        assert [value for value in VALUES if value in shown] == []
        assert "Enter the query again" in shown
        assert "Enter the headers again" in shown

    def test_api_keeps_replaces_and_deletes_them(
        self, board: Board, api_of: ApiOf, organiser: User
    ) -> None:
        def extras(url: str, **changes: Any) -> Extras:
            body = {"base_url": url, "model": MODEL, **changes}
            answer = api_of(organiser).put("/api/v1/boards/board/judge-endpoint/", body)
            assert answer.status_code == 200, answer.json()
            return JudgeEndpoint.objects.get().read_extras()

        url = "https://a.example/v1"
        assert extras(f"{url}?a=1", headers=["X-Team: 1"]) == Extras("a=1", {"X-Team": "1"})
        assert extras(url) == Extras("a=1", {"X-Team": "1"})
        assert extras(f"{url}?", headers=[]) == Extras()

    @pytest.mark.parametrize(
        ("line", "fault"),
        [
            ("no colon", "Line 1: expected NAME: VALUE"),
            ("Host: x", "Line 1: the header Host cannot be set."),
            ("X-Key: schlüssel", "Line 1: the value of X-Key contains invalid characters."),
        ],
    )
    def test_faulty_headers_are_refused_without_their_value(
        self,
        board: Board,
        client_of: ClientOf,
        api_of: ApiOf,
        organiser: User,
        line: str,
        fault: str,
    ) -> None:
        form = sent("https://a.example/v1", headers=line)
        answer = client_of(organiser).post("/boards/board/judge/endpoint/", form)
        assert (answer.status_code, fault in answer.content.decode()) == (400, True)
        assert line not in answer.content.decode()
        body = {"base_url": "https://a.example/v1", "model": MODEL, "headers": [line]}
        refused = api_of(organiser).put("/api/v1/boards/board/judge-endpoint/", body)
        assert (refused.status_code, fault in str(refused.json()["headers"])) == (400, True)
