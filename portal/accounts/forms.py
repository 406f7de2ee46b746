"""Forms of accounts."""

from typing import Any

from allauth.account.forms import SignupForm as AllauthSignupForm
from django import forms
from django.http import HttpRequest

from .models import ApiToken, User


class SignupForm(AllauthSignupForm):  # type: ignore[misc]  # allauth ships no types
    """Sign-up also asks for the name that others will see."""

    field_order = ["name", "email", "password1", "password2"]
    name = forms.CharField(max_length=120, label="Name", help_text="Shown beside your work.")

    def save(self, request: HttpRequest) -> Any:
        user = super().save(request)
        if user is not None:  # None: the address has an account already, and allauth told its owner
            user.name = self.cleaned_data["name"]
            user.save(update_fields=["name"])
        return user


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ["name", "affiliation"]


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = ApiToken
        fields = ["name"]
        labels = {"name": "Used in"}
        help_texts = {"name": "The program or machine, such as “grading script”."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The profile stands on the same page and has a field of this name too.
        kwargs["auto_id"] = "token_%s"
        super().__init__(*args, **kwargs)
