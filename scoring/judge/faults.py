"""Why no response came: the cause of a failed connection, in words. For any HTTP library."""

import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

# Causes that another attempt does not change.
_LASTING = (ssl.SSLError,)


def connection_fault(error: BaseException, url: str) -> str:
    """The cause of an error that an HTTP library raised for a request to this URL.

    >>> connection_fault(ConnectionRefusedError(), "http://127.0.0.1:9/v1")
    'the connection was refused; nothing listens at this host and port'
    """
    causes = list(_causes(error))
    reason = next(filter(None, map(_reason, causes)), "")
    is_slow = any("timeout" in type(cause).__name__.lower() for cause in causes)
    reason = reason or ("no connection in time" if is_slow else "")
    proxy = proxy_of(url)
    said = next((str(cause) for cause in causes if type(cause).__name__ == "ProxyError"), "")
    if said:
        return f"the proxy {proxy} refused the connection: {said[:100]}"
    if proxy and reason:
        return f"no connection to the proxy {proxy}: {reason}"
    return reason or "the connection broke off"


def is_lasting(error: BaseException) -> bool:
    """Whether another attempt must fail too: a wrong certificate, or a host without TLS."""
    return any(isinstance(cause, _LASTING) for cause in _causes(error))


def proxy_of(url: str) -> str:
    """Host and port of the proxy that the environment sets for a URL; empty without one."""
    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all") or ""
    if not proxy or proxy_bypass(parts.hostname or ""):
        return ""
    # Without its user and password.
    return urlsplit(proxy if "://" in proxy else f"//{proxy}").netloc.rpartition("@")[2]


def _reason(cause: BaseException) -> str:
    if isinstance(cause, socket.gaierror):
        return "the host name was not found (DNS)"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"the TLS certificate is not valid: {cause.verify_message or cause.reason}"
    if isinstance(cause, ssl.SSLError):
        said = (cause.reason or "").replace("_", " ").lower()
        return f"TLS failed ({said}); check http or https in the URL"
    if isinstance(cause, ConnectionRefusedError):
        return "the connection was refused; nothing listens at this host and port"
    if isinstance(cause, ConnectionResetError):
        return "the connection was reset"
    if isinstance(cause, OSError) and cause.errno and not isinstance(cause, TimeoutError):
        return (cause.strerror or "").lower()
    return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and all errors that led to it."""
    waiting, seen = [error], set[int]()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        parts = getattr(cause, "exceptions", ())
        waiting += [each for each in (cause.__cause__, cause.__context__, *parts) if each]
