"""Forms of scoring, one module per noun."""

from .boards import BoardForm, BoardSettingsForm, BoardStateForm
from .cards import CARD_FIELDS
from .phases import PhaseForm
from .submissions import SubmissionForm, VerdictForm, WebhookForm

__all__ = [
    "CARD_FIELDS",
    "BoardForm",
    "BoardSettingsForm",
    "BoardStateForm",
    "PhaseForm",
    "SubmissionForm",
    "VerdictForm",
    "WebhookForm",
]
