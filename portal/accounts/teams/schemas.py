"""The shapes of the teams' endpoints."""

from typing import Any

from django.core.exceptions import ValidationError as DjangoValidationError
from rest_framework import serializers

from portal.accounts.forms import read_addresses
from portal.accounts.invitations import LETTERS
from portal.accounts.models import Team


class TeamShape(serializers.Serializer[Any]):
    slug = serializers.SlugField()
    name = serializers.CharField()
    about = serializers.CharField(help_text="Markdown.")
    link = serializers.CharField()
    is_open = serializers.BooleanField()
    is_member = serializers.BooleanField(help_text="Whether I am in it.")
    is_owner = serializers.BooleanField(help_text="Whether I am one of its owners.")


class TeamFields(serializers.ModelSerializer[Team]):
    class Meta:
        model = Team
        fields = ["name", "about", "link"]
        extra_kwargs = {"about": {"max_length": 2000}}
        # Whether the name is free is found out under the team's lock: 409, not 400.
        validators: list[Any] = []

    def validate_name(self, name: str) -> str:
        """One line: it stands in tables and in the subject of letters."""
        return " ".join(name.split())


class OwnTeamShape(serializers.Serializer[Any]):
    slug = serializers.SlugField()
    name = serializers.CharField()
    is_owner = serializers.BooleanField()
    members = serializers.IntegerField()
    joined_at = serializers.DateTimeField()


class TeamPerson(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk", help_text="Of the membership.")
    name = serializers.CharField()
    affiliation = serializers.CharField()
    is_owner = serializers.BooleanField()
    is_me = serializers.BooleanField()
    joined_at = serializers.DateTimeField()


class TeamOwnership(serializers.Serializer[Any]):
    is_owner = serializers.BooleanField(
        help_text="True makes the member an owner; false is for giving up one’s own ownership."
    )


class TeamInvitationRow(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    email = serializers.EmailField()
    letter = serializers.CharField(help_text=f"One of {', '.join(LETTERS)}.")
    sent_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    is_expired = serializers.BooleanField()
    invited_by = serializers.CharField()


class NewTeamInvitations(serializers.Serializer[Any]):
    emails = serializers.ListField(child=serializers.CharField(), allow_empty=False)

    def validate_emails(self, emails: list[str]) -> list[str]:
        try:
            return read_addresses(emails)
        except DjangoValidationError as error:
            raise serializers.ValidationError(error.messages) from error


class InvitedToTeamShape(serializers.Serializer[Any]):
    invited = serializers.ListField(child=serializers.CharField())
    known = serializers.ListField(
        child=serializers.CharField(), help_text="Members, or invited before: no letter went out."
    )


class TeamRefusal(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


class InvitationLink(serializers.Serializer[Any]):
    link = serializers.CharField(help_text="Shown once: only its hash is kept.")
