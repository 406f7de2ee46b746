"""Models of accounts, one module per noun."""

from .exports import AccountExport
from .invitations import Invitation
from .people import FORMER_MEMBER, User, UserManager, display_name, is_former
from .teams import Team, TeamInvitation, TeamMember
from .tokens import ApiToken

__all__ = [
    "FORMER_MEMBER",
    "AccountExport",
    "ApiToken",
    "Invitation",
    "Team",
    "TeamInvitation",
    "TeamMember",
    "User",
    "UserManager",
    "display_name",
    "is_former",
]
