"""What a judge answers. Its own totals are not asked for: they are counted here."""

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict


def _no_text(value: object) -> object:
    return "" if value is None else value


class Answer(BaseModel):
    """An answer. Endpoints that hold to a schema want every object closed and every key required;
    what others add is left aside."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"additionalProperties": False})


class FactRow(Answer):
    """What the judge says of gold fact `n`; `matched_text` is copied from the prediction, or
    empty."""

    n: int
    found: bool
    correct: bool
    matched_text: Annotated[str, BeforeValidator(_no_text)]
    why: str


class FactsAnswer(Answer):
    structure_score: Literal[0, 1, 2]
    structure_explanation: str
    facts: list[FactRow]
    overall_explanation: str


class FieldAnswer(Answer):
    same: bool
    why: str


@cache
def response_format(schema: type[Answer]) -> dict[str, Any]:
    """The schema as chat completions take it; making it takes longer than sending it."""
    return {
        "type": "json_schema",
        "json_schema": {
            "name": schema.__name__,
            "strict": True,
            "schema": schema.model_json_schema(),
        },
    }
