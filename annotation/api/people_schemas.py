"""The shapes of invitations and reminders; they also check plain bodies."""

from typing import Any

from django import forms
from rest_framework import serializers

from annotation.models import Membership
from annotation.people_forms import MAX_DAYS
from annotation.selectors.waiting import WORDS
from portal.accounts.invitations.selectors import LETTERS
from portal.accounts.invitations.views import read_addresses


class NewInvitations(serializers.Serializer[Any]):
    emails = serializers.ListField(
        child=serializers.CharField(max_length=320), help_text="At most fifty addresses."
    )
    role = serializers.ChoiceField(choices=Membership.Role.choices)

    def validate_emails(self, emails: list[str]) -> list[str]:
        try:
            return read_addresses(emails)
        except forms.ValidationError as error:
            raise serializers.ValidationError(error.messages) from None


class InvitedPeople(serializers.Serializer[Any]):
    added = serializers.ListField(
        child=serializers.EmailField(), help_text="Have an account and hold the role now."
    )
    invited = serializers.ListField(child=serializers.EmailField())
    known = serializers.ListField(
        child=serializers.EmailField(),
        help_text="Hold the role or an invitation to it already; nothing was done.",
    )


class CampaignInvitationRow(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    email = serializers.EmailField()
    role = serializers.ChoiceField(choices=Membership.Role.choices)
    letter = serializers.ChoiceField(choices=LETTERS, help_text="How the newest letter fares.")
    sent_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    is_expired = serializers.BooleanField()
    invited_by = serializers.CharField()


class WaitingWork(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text=f"One of {', '.join(WORDS)}.")
    count = serializers.IntegerField()
    since = serializers.DateTimeField(allow_null=True)


class WaitingPerson(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="user.pk", help_text="What a reminder is addressed to.")
    name = serializers.CharField()
    roles = serializers.ListField(child=serializers.CharField())
    work = WaitingWork(many=True)
    since = serializers.DateTimeField(allow_null=True)
    last_activity = serializers.DateField(allow_null=True)
    reminded_at = serializers.DateTimeField(allow_null=True)


class WaitingInCampaign(serializers.Serializer[Any]):
    people = WaitingPerson(many=True, help_text="The longest wait first.")
    nobodys = WaitingWork(many=True, help_text="Work for which nobody has the role.")


class RemindWaiting(serializers.Serializer[Any]):
    days = serializers.IntegerField(
        min_value=0, max_value=MAX_DAYS, help_text="Whole days something has waited at least."
    )


class RemindedPeople(serializers.Serializer[Any]):
    sent = serializers.ListField(child=serializers.CharField(), help_text="Names.")
    lately = serializers.ListField(
        child=serializers.CharField(), help_text="Reminded within a day before; no letter now."
    )


class ReminderSent(serializers.Serializer[Any]):
    waiting = serializers.IntegerField(help_text="Pieces of work the letter was ordered for.")
    sent_at = serializers.DateTimeField()
