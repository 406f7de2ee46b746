"""Forms of scoring, one module per noun."""

from .boards import BoardForm, BoardSettingsForm, BoardStateForm
from .cards import CARD_FIELDS
from .filters import RowFilterForm
from .judge_endpoints import EndpointForm
from .judging import ExpertForm, ReviewForm, RunForm, SampleForm
from .phases import PhaseForm
from .regrades import RegradeForm
from .submissions import SubmissionForm, VerdictForm, WebhookForm

__all__ = [
    "CARD_FIELDS",
    "BoardForm",
    "BoardSettingsForm",
    "BoardStateForm",
    "EndpointForm",
    "ExpertForm",
    "PhaseForm",
    "RegradeForm",
    "ReviewForm",
    "RowFilterForm",
    "RunForm",
    "SampleForm",
    "SubmissionForm",
    "VerdictForm",
    "WebhookForm",
]
