"""The Redis cache, and what replaces it while Redis does not answer."""

import time
from collections.abc import Callable
from typing import Any

import structlog
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import ConnectionError as RedisAway
from redis.exceptions import TimeoutError as RedisSlow

logger = structlog.get_logger(__name__)

# Seconds without Redis after a failure, so that not every request waits for it.
PAUSE = 5.0


class SteadyRedisCache(RedisCache):
    """Redis, or the memory of the process while Redis does not answer.

    Log-ins and their limits work without Redis; the limits then hold for each process.
    """

    _away_until = 0.0

    @property
    def is_away(self) -> bool:
        """Whether the last answer came from the memory of this process."""
        return time.monotonic() < SteadyRedisCache._away_until

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._own = LocMemCache("while redis is away", {})

    def _done(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= SteadyRedisCache._away_until:
            act: Callable[..., Any] = getattr(super(), name)
            try:
                return act(*args, **kwargs)
            except (RedisAway, RedisSlow):
                SteadyRedisCache._away_until = time.monotonic() + PAUSE
                logger.exception("redis does not answer; the cache is in memory", seconds=PAUSE)
        return getattr(self._own, name)(*args, **kwargs)

    def add(self, *args: Any, **kwargs: Any) -> Any:
        return self._done("add", *args, **kwargs)

    def get(self, *args: Any, **kwargs: Any) -> Any:
        return self._done("get", *args, **kwargs)

    def set(self, *args: Any, **kwargs: Any) -> Any:
        return self._done("set", *args, **kwargs)

    def touch(self, *args: Any, **kwargs: Any) -> Any:
        return self._done("touch", *args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        return self._done("delete", *args, **kwargs)

    def get_many(self, *args: Any, **kwargs: Any) -> Any:
        return self._done("get_many", *args, **kwargs)

    def has_key(self, *args: Any, **kwargs: Any) -> Any:
        return self._done("has_key", *args, **kwargs)

    def incr(self, *args: Any, **kwargs: Any) -> Any:
        return self._done("incr", *args, **kwargs)

    def set_many(self, *args: Any, **kwargs: Any) -> Any:
        return self._done("set_many", *args, **kwargs)

    def delete_many(self, *args: Any, **kwargs: Any) -> Any:
        return self._done("delete_many", *args, **kwargs)

    def clear(self, *args: Any, **kwargs: Any) -> Any:
        return self._done("clear", *args, **kwargs)
