"""The IP address and the network behind a request."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

# The prefix that a customer of an internet provider usually has, by IP version.
_PREFIXES = {4: 24, 6: 64}


def client_of(request: HttpRequest) -> str:
    """The IP address of the client, as far as the proxies can be trusted."""
    forwarded = request.headers.get("X-Forwarded-For", "")
    return client_address(request.META["REMOTE_ADDR"], forwarded, settings.TRUSTED_PROXIES)


def client_address(peer: str, forwarded: str, trusted: Sequence[IPv4Network | IPv6Network]) -> str:
    """Return the IP address nearest to us that is not a trusted proxy's.

    `peer` opened the connection. Each proxy appends its own peer to `forwarded`, the value of
    X-Forwarded-For; everything to the left of an untrusted IP address may be invented.
    """
    client = _parsed(peer)
    for hop in reversed(forwarded.split(",")):
        if client is None or not any(client in network for network in trusted):
            break
        before = _parsed(hop)
        if before is None:
            break
        client = before
    return str(client or peer)


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    """An IP address, which may have a port."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def network_of(request: HttpRequest) -> str:
    """The network of the client, such as 203.0.113.0/24; empty if it is unknown.

    It is unknown behind a proxy that is not listed in TRUSTED_PROXIES: all clients of the site
    would seem to share its network.
    """
    address = _parsed(client_of(request))
    if address is None or (address.is_private and "X-Forwarded-For" in request.headers):
        return ""
    return str(ip_network(f"{address}/{_PREFIXES[address.version]}", strict=False))


def network_key(request: HttpRequest) -> str:
    """A keyed hash of the client's network, 64 hexadecimal digits; empty if it is unknown."""
    network = network_of(request)
    if not network:
        return ""
    return salted_hmac("portal.accounts.network", network, algorithm="sha256").hexdigest()
