"""Forms of quality acceptance: a new batch, and a verdict on one field."""

import json
import secrets
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from .curation.acceptance import THRESHOLD, smallest_telling_sample
from .curation.schemas import BUILT_IN, raw_schema
from .models import Dataset, DocumentType, Selection
from .selectors.acceptance import Candidates, suggested_schema
from .services.acceptance import MAX_BATCH, AcceptanceRefused, read_batch_schema
from .services.inspections import LONGEST_COMMENT

# Characters; a schema of MAX_FIELDS fields needs far fewer.
MAX_SCHEMA = 200_000
MAX_VALUE = 20_000
_LARGEST_SEED = 2**63 - 1

SCHEMAS = [
    *((name, "ReceiptBench's 19 fields of a receipt") for name in BUILT_IN),
    ("records", "the fields that the records have"),
    ("own", "a schema of your own, below"),
]


def parse_json(text: str) -> Any:
    """Raises ValidationError with line and column of what is no JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValidationError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise ValidationError("This is nested too deeply or has a number too long.") from error


class NewBatchForm(forms.Form):
    """Which documents, which fields, and how the sample is drawn."""

    schema = forms.ChoiceField(label="Fields to inspect", choices=SCHEMAS)
    schema_file = forms.FileField(
        label="Schema file",
        required=False,
        help_text="JSON: <code>[{&quot;name&quot;, &quot;kind&quot;, …}]</code>, kind is text, "
        "number, date, flag or list.",
        widget=forms.ClearableFileInput(attrs={"accept": ".json,application/json"}),
    )
    schema_text = forms.CharField(
        label="Or the schema itself",
        required=False,
        max_length=MAX_SCHEMA,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "class": "mono"}),
    )
    selection: Any = forms.ModelChoiceField(
        queryset=Selection.objects.none(),
        required=False,
        label="Of the selection",
        empty_label="all documents",
    )
    doc_type = forms.ChoiceField(
        required=False, label="Of the type", choices=[("", "all types"), *DocumentType.choices]
    )
    language = forms.CharField(
        required=False, max_length=12, label="In the language", help_text="Such as en or zh."
    )
    size = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_BATCH,
        label="Documents at most",
        help_text="The next ones by name that are in no open or accepted batch; at most "
        f"{MAX_BATCH:,}.",
    )
    sample_size = forms.IntegerField(
        min_value=1,
        max_value=MAX_BATCH,
        initial=smallest_telling_sample(),
        label="Documents to inspect",
        help_text=f"With {smallest_telling_sample()} or more a sample without any error shows that "
        f"a field is better than {100 * THRESHOLD:g}&nbsp;%. A smaller one decides too, "
        "but by less.",
    )
    threshold = forms.DecimalField(
        min_value=Decimal("0.1"),
        max_value=100,
        max_digits=4,
        decimal_places=1,
        initial=(100 * Decimal(str(THRESHOLD))).quantize(Decimal("0.1")),
        label="Accuracy that every field has to reach, in %",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=_LARGEST_SEED,
        label="Seed",
        help_text="The same seed draws the same sample again.",
    )

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._dataset = dataset
        selections = dataset.selections.all()
        self.fields["selection"].queryset = selections  # type: ignore[attr-defined]
        if not selections:
            del self.fields["selection"]
        self.fields["seed"].initial = secrets.randbelow(1_000_000)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if choice := cleaned.get("schema"):
            try:
                cleaned["schema_data"] = self._schema(choice, cleaned)
            except ValidationError as error:
                self.add_error("schema_text", error)
        return cleaned

    def _schema(self, choice: str, cleaned: dict[str, Any]) -> Any:
        if choice in BUILT_IN:
            return raw_schema(choice)
        if choice == "records":
            data = suggested_schema(self._dataset)
        else:
            data = parse_json(self._own_text(cleaned))
        try:
            read_batch_schema(data)
        except AcceptanceRefused as refusal:
            raise ValidationError(refusal.message) from refusal
        return data

    def _own_text(self, cleaned: dict[str, Any]) -> str:
        file, text = cleaned.get("schema_file"), cleaned.get("schema_text", "")
        if file and text.strip():
            raise ValidationError("Give the file or the text, not both.")
        if file is None:
            if not text.strip():
                raise ValidationError("There is no schema here and no file.")
            return str(text)
        if file.size > MAX_SCHEMA:
            raise ValidationError(f"{file.name} is larger than {MAX_SCHEMA:,} bytes.")
        try:
            return str(file.read().decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise ValidationError(f"{file.name} is not UTF-8.") from error

    def arguments(self) -> dict[str, Any]:
        """What `open_batch` takes, of a valid form."""
        cleaned = self.cleaned_data
        return {
            "schema": cleaned["schema_data"],
            "sample_size": cleaned["sample_size"],
            "seed": cleaned["seed"],
            "threshold": float(cleaned["threshold"] / 100),
            "size": cleaned["size"],
            "candidates": Candidates(
                cleaned.get("selection"), cleaned["doc_type"], cleaned["language"].strip()
            ),
        }


class VerdictForm(forms.Form):
    """What is said of one field. Without a verdict a correct value was typed: it is wrong."""

    field = forms.CharField(max_length=80, strip=False)
    verdict = forms.ChoiceField(
        required=False, choices=[(word, word) for word in ("right", "wrong", "clear")]
    )
    correct_value = forms.CharField(required=False, max_length=MAX_VALUE)
    should_be_empty = forms.BooleanField(required=False)
    comment = forms.CharField(required=False, max_length=LONGEST_COMMENT)
    base = forms.CharField(required=False, max_length=40)

    def correct(self, kind: str) -> Any:
        """The correct value as the record would have it; None if it was not given.

        A list and a flag are read as JSON. Raises ValidationError.
        """
        text: str = self.cleaned_data["correct_value"]
        if self.cleaned_data["should_be_empty"]:
            if text:
                raise ValidationError("It cannot be empty and have a value.")
            return ""
        if not text:
            return None
        if kind not in ("list", "flag"):
            return text
        value = parse_json(text)
        if kind == "list" and not isinstance(value, list):
            raise ValidationError('A list is written as JSON, such as ["a", "b"].')
        if kind == "flag" and not isinstance(value, bool):
            raise ValidationError("This is true or false.")
        return value
