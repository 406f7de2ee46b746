"""Forms of teams."""

from typing import Any

from django import forms

from portal.accounts.models import Team


class TeamForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Team
        fields = ["name", "about", "link"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["about"].widget.attrs["rows"] = 6

    def clean_name(self) -> str:
        """One line: it stands in tables and in the subject of letters."""
        return " ".join(str(self.cleaned_data["name"]).split())
