"""The form that starts a run of a model."""

import json
from typing import Any

from django import forms

from portal.files.uploads import UploadForm
from scoring.answering.manifest import RunManifest
from scoring.answering.prompts import FILE, ITEM, OWN, SYSTEM
from scoring.models import Board, JudgeEndpoint, Phase, Submission
from scoring.models.judging import MOST_AMOUNT
from scoring.models.running import MOST_CONCURRENCY
from scoring.submissions.manifests import ManifestRefused, read_manifest

from .services import (
    DEFAULT_DECODING,
    LONGEST_PROMPT,
    check_decoding,
    check_prompt,
    prompt_versions,
)

_MOST_CHARACTERS = 5_000
_PROMPTS = {OWN: "each item's question alone", FILE: "your own text"}


class PhaseField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: Phase) -> str:
        return f"{obj.title}, {obj.release}"


class ModelRunForm(forms.Form):
    """Settings of a run. The endpoint is the board's."""

    phase = PhaseField(queryset=Phase.objects.none(), empty_label=None)
    model = forms.CharField(
        max_length=120,
        help_text="The model's name at the endpoint.",
        widget=forms.TextInput(attrs={"class": "mono", "autocomplete": "off"}),
    )
    name = forms.CharField(
        required=False,
        max_length=120,
        label="Name on the leaderboard",
        help_text="Leave empty to use the model's name.",
    )
    prompt_version = forms.ChoiceField(label="Prompt")
    prompt_text = forms.CharField(
        required=False,
        max_length=LONGEST_PROMPT,
        label="Text of your own prompt",
        help_text="$question in it is the item's question.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    system_prompt = forms.CharField(
        required=False, max_length=LONGEST_PROMPT, widget=forms.Textarea(attrs={"rows": 2})
    )
    decoding = forms.CharField(
        required=False,
        max_length=_MOST_CHARACTERS,
        help_text="One setting per line, such as temperature=0.",
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"}),
    )
    is_raw = forms.BooleanField(
        required=False,
        label="Leave answers as they are",
        help_text="Otherwise code blocks are taken off and JSON is repaired. The manifest counts "
        "such changes.",
    )
    concurrency = forms.IntegerField(
        min_value=1, max_value=MOST_CONCURRENCY, initial=4, label="Concurrent calls"
    )
    budget = forms.FloatField(
        required=False,
        min_value=0,
        max_value=MOST_AMOUNT,
        help_text="In the currency of the endpoint's prices. No call that could exceed it is made. "
        "If empty, only the endpoint's monthly budget applies.",
    )

    def __init__(
        self,
        *args: Any,
        board: Board,
        endpoint: JudgeEndpoint | None,
        rerun_of: Submission | None = None,
        **kwargs: Any,
    ) -> None:
        """For a re-run the settings of the submission's manifest are filled in."""
        kwargs["initial"] = _initial(board, endpoint, rerun_of)
        super().__init__(*args, **kwargs)
        phase, prompt = self.fields["phase"], self.fields["prompt_version"]
        assert isinstance(phase, PhaseField)
        assert isinstance(prompt, forms.ChoiceField)
        phases = board.phases.select_related("board", "release__dataset").order_by("-id")
        phase.queryset = phases if rerun_of is None else phases.filter(pk=rerun_of.phase_id)
        prompt.choices = [(each, _PROMPTS.get(each, each)) for each in prompt_versions(board)]
        if rerun_of is not None:
            del self.fields["name"]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if "prompt_version" in data and "prompt_text" in data:
            try:
                check_prompt(data["prompt_version"], data["prompt_text"])
            except ValueError as error:
                self.add_error("prompt_text", str(error))
        return data

    def clean_decoding(self) -> dict[str, Any]:
        lines = [line.strip() for line in self.cleaned_data["decoding"].splitlines()]
        values = {}
        for line in filter(None, lines):
            name, equals, value = line.partition("=")
            if not equals:
                raise forms.ValidationError(f"“{line[:60]}” is not of the form name=value.")
            values[name.strip()] = read_value(value.strip())
        try:
            return check_decoding(values)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


class RerunForm(UploadForm):
    """The file of a run that repeats a submission, with its manifest."""

    file = forms.FileField(
        label="Predictions",
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,.jsonl,.gz"}),
        help_text="The file from a run with the same command at the same endpoint.",
    )
    manifest = forms.FileField(
        required=False,
        label="Run manifest",
        widget=forms.ClearableFileInput(attrs={"accept": ".json"}),
    )

    def clean_manifest(self) -> RunManifest | None:
        file = self.cleaned_data["manifest"]
        try:
            return read_manifest(file) if file else None
        except ManifestRefused as refusal:
            raise forms.ValidationError(refusal.faults) from None


def read_value(text: str) -> Any:
    """A JSON value, or the text itself.

    >>> read_value("0.5"), read_value("true"), read_value("high")
    (0.5, True, 'high')
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _initial(
    board: Board, endpoint: JudgeEndpoint | None, rerun_of: Submission | None
) -> dict[str, Any]:
    about = rerun_of.manifest.about if rerun_of is not None and has_manifest(rerun_of) else {}
    decoding = about.get("decoding") or dict(DEFAULT_DECODING)
    texts = {each["name"]: each for each in about.get("prompts") or []}
    system = texts.pop(SYSTEM, {})
    first = next(iter(texts.values()), system)
    return {
        "model": about.get("model") or (endpoint.model if endpoint else ""),
        "prompt_version": first.get("version") or prompt_versions(board)[0],
        "prompt_text": texts[ITEM]["text"] if ITEM in texts and first["version"] == FILE else "",
        "system_prompt": system.get("text", ""),
        "is_raw": "--raw" in about.get("command", "").split(),
        "decoding": "\n".join(f"{name}={_shown(value)}" for name, value in decoding.items()),
    }


def has_manifest(submission: Submission) -> bool:
    return getattr(submission, "manifest", None) is not None


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
