"""Endpoints of the LLM judge for tests."""

from typing import Any

from tests.scoring.judge.server import MODEL, TOKENS_IN, TOKENS_OUT

PRICES = {"price_input": 1_000.0, "price_output": 2_000.0}
# The cost of a call to the scripted server.
COST = (TOKENS_IN * PRICES["price_input"] + TOKENS_OUT * PRICES["price_output"]) / 1_000_000


def endpoint_values(url: str, **changes: Any) -> dict[str, Any]:
    """As `set_endpoint` and the API take them."""
    values = {
        "base_url": url,
        "model": MODEL,
        **PRICES,
        "calls_per_minute": 0,
        "budget": None,
    }
    return values | changes
