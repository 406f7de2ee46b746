"""How a program proves who it acts for: `Authorization: Bearer fb_…`."""

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from .models import ApiToken, User
from .tokens import TokenRefused, recognise_token


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        parts = get_authorization_header(request).split()
        if not parts or parts[0].lower() != b"bearer":
            return None
        if len(parts) != 2:
            raise AuthenticationFailed("The header must read: Authorization: Bearer TOKEN")
        try:
            token = recognise_token(parts[1].decode("ascii", errors="replace"))
        except TokenRefused as refusal:
            raise AuthenticationFailed(str(refusal)) from refusal
        if token is None:
            raise AuthenticationFailed("This token is not known or was revoked.")
        if token.scope == ApiToken.Scope.READ and request.method not in SAFE_METHODS:
            raise PermissionDenied("This token may read only. Make one that may change things.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Tells the OpenAPI document of the bearer token."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
