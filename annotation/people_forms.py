"""Forms about people: who is invited to what, and who is reminded."""

from typing import Any

from django import forms

from annotation.access import Standing
from annotation.models import Membership
from portal.accounts.invitations.views import AddressesField

MAX_DAYS = 365


class InviteMembersForm(forms.Form):
    """Who, by e-mail, gets which role. Only roles that the person asking may give."""

    emails = AddressesField(
        help_text="One per line. Whoever has an account is in at once; others get an invitation."
    )
    role = forms.ChoiceField()

    def __init__(self, *args: Any, standing: Standing, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        role = self.fields["role"]
        assert isinstance(role, forms.ChoiceField)
        role.choices = [
            (value, label) for value, label in Membership.Role.choices if standing.may_give(value)
        ]


class RemindForm(forms.Form):
    days = forms.IntegerField(
        label="Days",
        initial=3,
        min_value=0,
        max_value=MAX_DAYS,
        help_text="Whole days that something has waited for at least.",
    )
