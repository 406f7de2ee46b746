"""Forms with which people take leave."""

from typing import Any

from django import forms

from .models import User


class DeleteAccountForm(forms.Form):
    """Asks for what nobody else knows, and for a sign that it is meant."""

    password = forms.CharField(
        label="Your password",
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        strip=False,
    )
    email = forms.CharField(
        label="Your e-mail address",
        help_text="To be sure that this is the account you mean.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        self._user = user
        super().__init__(*args, **kwargs)

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        if not self._user.check_password(password):
            raise forms.ValidationError("This is not your password.")
        return password

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"])
        if email.lower() != self._user.email.lower():
            raise forms.ValidationError("This is not the address of this account.")
        return email
