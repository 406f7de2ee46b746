"""The API conforms to its OpenAPI document, for valid and invalid requests.

Schemathesis generates both kinds of requests from the document for every operation. Each response
must match the document, and none may be a server error. Every request is rolled back before the
next. The requests are the same in every run.
"""

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import AcceptedNegativeData, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from portal.accounts.models import User
from tests.asking import rolled_back

from .api_world import World, make_world

pytestmark = pytest.mark.django_db

APPLICATION = get_wsgi_application()

Mode = schemathesis.GenerationMode


def invalid_data_is_refused(context: Any, response: Any, case: Any) -> bool | None:
    """Checks that invalid JSON is refused.

    As in forms, fields accept 1 as text and "yes" as true, and strip white space before they check
    lengths. Unknown query parameters are ignored.
    """
    if case.media_type != "application/json":
        return None
    try:
        return negative_data_rejection(context, response, case)
    except AcceptedNegativeData as error:
        if any(f"violates `{rule}`" in str(error) for rule in ("type", "maxLength")):
            return None
        raise


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    invalid_data_is_refused,
]
# Per operation and kind of data. The first example, and three of four others, use existing objects.
EXAMPLES = int(os.environ.get("API_EXAMPLES", "3"))
QUICK = 1
ROLES = ("anonymous", "researcher", "organiser")


@pytest.fixture
def world(researcher: User, organiser: User, ben: User) -> World:
    return make_world(researcher, organiser, ben)


@pytest.fixture(autouse=True)
def _one_connection() -> Iterator[None]:
    """Stops requests from closing old connections: one of them has the test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def whole(environ: Any, start_response: Any) -> list[bytes]:
    """Calls the site, reads the response to its end and closes it, as a web server does."""
    answer: Any = APPLICATION(environ, start_response)
    try:
        return [b"".join(answer)]
    finally:
        answer.close()


def schema() -> Any:
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    found = schemathesis.openapi.from_dict(document)
    found.app = whole
    return found


@cache
def operations() -> list[Any]:
    return [result.ok() for result in schema().get_all_operations()]


@pytest.mark.parametrize(
    "examples", [QUICK, pytest.param(EXAMPLES, marks=pytest.mark.slow)], ids=["quick", "thorough"]
)
@pytest.mark.parametrize("mode", [Mode.POSITIVE, Mode.NEGATIVE], ids=["valid", "invalid"])
def test_every_response_is_as_documented(mode: Mode, examples: int, world: World) -> None:
    faults, asked = [], 0
    for operation in operations():
        try:
            _ask(operation, mode, examples, world)
            asked += 1
        except Unsatisfiable:
            # Every value is valid: any text is a valid name in a URL.
            assert mode == Mode.NEGATIVE, operation.label
        except (FailureGroup, Exception) as error:
            faults.append(f"{operation.label} {_words(error)}")
    assert not faults, "\n".join(faults)
    assert asked > len(operations()) / 2


def _words(error: BaseException) -> str:
    inner = getattr(error, "exceptions", ())
    causes = "; ".join(str(each) for each in inner) or repr(error)
    return " ".join([*getattr(error, "__notes__", ()), causes])


def _ask(operation: Any, mode: Mode, examples: int, world: World) -> None:
    """Sends each generated request as every role, because generating it takes longest."""
    known = world.parameters(operation.path)

    @seed(1)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), is_unknown=st.integers(0, 3))
    def ask(case: Any, is_unknown: int) -> None:
        if is_unknown != 3 and known:
            case.path_parameters = known
        for role in ROLES:
            try:
                _send(case, world.tokens.get(role))
            except (FailureGroup, Exception) as error:
                error.add_note(f"as {role}:")
                raise

    ask()


def _send(case: Any, token: str | None) -> None:
    with rolled_back():
        response = case.call(headers={"Authorization": f"Bearer {token}"} if token else {})
    case.validate_response(response, checks=CHECKS)
