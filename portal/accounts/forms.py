"""Forms of accounts."""

from datetime import timedelta
from typing import Any

from allauth.account.forms import SignupForm as AllauthSignupForm
from allauth.core import context
from django import forms
from django.core.validators import validate_email
from django.http import HttpRequest
from django.utils import timezone

from .adapter import invitation_behind
from .models import ApiToken, User

# A list this long was typed; a longer one was pasted by mistake, or is none of ours to write to.
MAX_ADDRESSES = 50
_EMAIL_CHARS = 254


class SignupForm(AllauthSignupForm):  # type: ignore[misc]  # allauth ships no types
    """Sign-up also asks for the name that others will see.

    Who comes from an invitation signs up with the address it was sent to.
    """

    field_order = ["name", "email", "password1", "password2"]
    name = forms.CharField(max_length=120, label="Name", help_text="Shown beside your work.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        invitation = invitation_behind(context.request) if context.request else None
        if invitation is not None:
            # Django takes the initial value of a disabled field, whatever is sent.
            self.initial["email"] = invitation.email
            self.fields["email"].disabled = True
            self.fields["email"].help_text = "Your invitation is for this address."

    def save(self, request: HttpRequest) -> Any:
        user = super().save(request)
        if user is not None:  # None: the address has an account already, and allauth told its owner
            user.name = self.cleaned_data["name"]
            # The page says that signing up is accepting them.
            user.terms_accepted_at = timezone.now()
            user.save(update_fields=["name", "terms_accepted_at"])
        return user


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ["name", "affiliation"]


# How long a token is good for, in days; 0 is for ever.
LIFETIMES = {"30": "30 days", "90": "90 days", "365": "a year", "0": "for ever"}
USUAL_LIFETIME = "365"


class PresetField(forms.ChoiceField):
    """A choice that is made already: what is not sent is the initial one."""

    def clean(self, value: Any) -> Any:
        return super().clean(value or self.initial)


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]
    scope = PresetField(label="It may", choices=ApiToken.Scope.choices, initial=ApiToken.Scope.FULL)
    lifetime = PresetField(label="Good for", choices=LIFETIMES.items(), initial=USUAL_LIFETIME)

    class Meta:
        model = ApiToken
        fields = ["name", "scope"]
        labels = {"name": "Used in"}
        help_texts = {"name": "The program or machine, such as “grading script”."}

    def clean_lifetime(self) -> timedelta | None:
        days = int(self.cleaned_data["lifetime"])
        return timedelta(days=days) if days else None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The profile stands on the same page and has a field of this name too.
        kwargs["auto_id"] = "token_%s"
        super().__init__(*args, **kwargs)


def read_addresses(lines: list[str]) -> list[str]:
    """The addresses in lower case, each once; empty lines count for nothing.

    Raises ValidationError with one sentence per fault, lines counted from 1.
    """
    emails = [line.strip().lower() for line in lines]
    faults = [
        f"Line {number}: “{email[:80]}” is not an e-mail address."
        for number, email in enumerate(emails, start=1)
        if email and not _is_address(email)
    ]
    found = list(dict.fromkeys(email for email in emails if email))
    if not found:
        faults.append("Give at least one address.")
    if len(found) > MAX_ADDRESSES:
        faults.append(f"{len(found)} addresses are more than the {MAX_ADDRESSES} taken at once.")
    if faults:
        raise forms.ValidationError(faults)
    return found


def _is_address(text: str) -> bool:
    try:
        validate_email(text)
    except forms.ValidationError:
        return False
    return len(text) <= _EMAIL_CHARS


class AddressesField(forms.CharField):
    """E-mail addresses, one per line; a list in lower case, each once."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        kwargs = {"label": "E-mail addresses", "help_text": "One per line."} | kwargs
        super().__init__(max_length=20_000, strip=False, **kwargs)
        self.widget.attrs |= {"rows": 4, "autocomplete": "off", "spellcheck": "false"}

    def clean(self, value: Any) -> list[str]:
        return read_addresses(super().clean(value).splitlines())


class InviteForm(forms.Form):
    emails = AddressesField()
