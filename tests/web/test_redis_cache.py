"""The cache while Redis is away, and when it is back."""

import time

import pytest
from django.core.cache.backends.redis import RedisCache

from portal.web.redis_cache import PAUSE, SteadyRedisCache


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> SteadyRedisCache:
    """Nothing listens on this port."""
    monkeypatch.setattr(SteadyRedisCache, "_away_until", 0.0)
    return SteadyRedisCache("redis://127.0.0.1:9/0", {"OPTIONS": {"socket_connect_timeout": 1}})


def test_memory_replaces_redis_and_limits_still_count(cache: SteadyRedisCache) -> None:
    before = cache.is_away
    cache.set("attempts", 1, timeout=60)
    assert (before, cache.is_away) == (False, True)
    assert cache.incr("attempts") == 2
    assert cache.get("attempts") == 2
    assert not cache.add("attempts", 9)
    assert cache.get_many(["attempts", "others"]) == {"attempts": 2}
    cache.delete("attempts")
    assert cache.get("attempts") is None


def test_redis_is_asked_again_after_a_pause(
    cache: SteadyRedisCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def get(_: object, key: str) -> str:
        asked.append(key)
        return "from redis"

    cache.set("key", 1)
    monkeypatch.setattr(RedisCache, "get", get)
    assert cache.get("key") == 1
    assert asked == []
    later = time.monotonic() + PAUSE
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert (cache.get("key"), asked) == ("from redis", ["key"])
