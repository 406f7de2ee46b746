"""Outgoing requests to URLs that users entered.

The host is resolved once, and the connection uses the IP address that was checked, which prevents
DNS rebinding. Redirects are not followed, and response bodies are not read.
"""

import ipaddress
import socket
import ssl
from urllib.parse import urlsplit

from django.conf import settings

CONNECT_SECONDS = 5
READ_SECONDS = 10


class OutgoingError(Exception):
    """The request failed. The message is shown to the user."""


def check_url(url: str) -> None:
    """Raises OutgoingError for URLs that cannot be used, without resolving the host."""
    parts = urlsplit(url)
    schemes = {"https", "http"} if settings.OUTGOING_TO_PRIVATE else {"https"}
    if parts.scheme not in schemes:
        raise OutgoingError(f"the URL must begin with {':// or '.join(sorted(schemes))}://")
    if not parts.hostname or parts.username or parts.password:
        raise OutgoingError("the URL must contain a host, and no user or password")
    try:
        _ = parts.port
    except ValueError as error:
        raise OutgoingError("the port must be a number from 0 to 65535") from error


def post(url: str, body: bytes, headers: dict[str, str]) -> int:
    """Send the body and return the status of the response.

    Raises OutgoingError if the host cannot be reached, or is in a private network and
    OUTGOING_TO_PRIVATE is off.
    """
    # Imported here because most processes never need it.
    from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout
    from urllib3.exceptions import HTTPError

    check_url(url)
    parts = urlsplit(url)
    host = str(parts.hostname)
    is_secure = parts.scheme == "https"
    port = parts.port or (443 if is_secure else 80)
    address, timeout = _looked_up(host, port), Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
    pool: HTTPConnectionPool
    if is_secure:
        pool = HTTPSConnectionPool(
            address,
            port,
            timeout=timeout,
            retries=False,
            server_hostname=host,
            assert_hostname=host,
            ssl_context=ssl.create_default_context(),
        )
    else:
        pool = HTTPConnectionPool(address, port, timeout=timeout, retries=False)
    named = host if port in {80, 443} else f"{host}:{port}"
    path = parts.path or "/"
    with pool:
        try:
            answer = pool.request(
                "POST",
                f"{path}?{parts.query}" if parts.query else path,
                body=body,
                headers=headers | {"Host": named},
                redirect=False,
                preload_content=False,
            )
        except HTTPError as error:
            raise OutgoingError(f"{host} did not respond: {type(error).__name__}") from error
        status: int = answer.status
        answer.close()
    return status


def _looked_up(host: str, port: int) -> str:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise OutgoingError(f"the host {host} cannot be found") from error
    addresses = [str(entry[4][0]) for entry in found]
    if not settings.OUTGOING_TO_PRIVATE:
        # A host with both public and private addresses is suspicious, so one is enough.
        for address in addresses:
            if not ipaddress.ip_address(address.partition("%")[0]).is_global:
                raise OutgoingError(f"{host} is in a private network")
    return addresses[0]
