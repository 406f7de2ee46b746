"""Requests that the site itself sends, to addresses that somebody typed in.

The name is looked up once and the connection goes to the address that was judged: a name that
points elsewhere a moment later leads nowhere. Nothing is redirected, and answers are not read.
"""

import ipaddress
import socket
import ssl
from urllib.parse import urlsplit

from django.conf import settings

CONNECT_SECONDS = 5
READ_SECONDS = 10


class OutgoingError(Exception):
    """Why a request was not sent, or not answered. The message is for people."""


def check_address(url: str) -> None:
    """Raises OutgoingError for what is no address to send to, without looking its name up."""
    parts = urlsplit(url)
    schemes = {"https", "http"} if settings.OUTGOING_TO_PRIVATE else {"https"}
    if parts.scheme not in schemes:
        raise OutgoingError(f"the address must begin with {' or '.join(sorted(schemes))}://")
    if not parts.hostname or parts.username or parts.password:
        raise OutgoingError("the address must name a host, and neither user nor password")
    try:
        _ = parts.port
    except ValueError as error:
        raise OutgoingError("the port is no number from 0 to 65535") from error


def post(url: str, body: bytes, headers: dict[str, str]) -> int:
    """Sends the body and gives the status of the answer.

    Raises OutgoingError where the host is not reached, or lies in a private network, which only
    OUTGOING_TO_PRIVATE allows.
    """
    # Loaded when it is needed: most processes never send anything.
    from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout
    from urllib3.exceptions import HTTPError

    check_address(url)
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
            raise OutgoingError(f"{host} did not answer: {type(error).__name__}") from error
        status: int = answer.status
        answer.close()
    return status


def _looked_up(host: str, port: int) -> str:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise OutgoingError(f"there is no host {host}") from error
    addresses = [str(entry[4][0]) for entry in found]
    if not settings.OUTGOING_TO_PRIVATE:
        # One private address is enough: whoever names both is up to something.
        for address in addresses:
            if not ipaddress.ip_address(address.partition("%")[0]).is_global:
                raise OutgoingError(f"{host} lies in a private network")
    return addresses[0]
