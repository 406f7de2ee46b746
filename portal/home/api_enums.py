"""Names for the choice sets of the OpenAPI document (ENUM_NAME_OVERRIDES in the settings).

Fields called `state` or `visibility` occur in several components; without names of their own their
enums would be called by hashes.
"""

from annotation.api.review_schemas import GIVEN_VERDICTS
from annotation.models import (
    Assignment,
    Campaign,
    CampaignImport,
    Case,
    ReviewItem,
    ReviewRound,
    Screening,
)
from annotation.selectors.own_gold import OUTCOMES
from portal.datasets.models import (
    Batch,
    Dataset,
    DatasetTask,
    Dispute,
    Document,
    DocumentType,
    ImportRun,
    NearDuplicate,
    PiiFinding,
    Release,
)
from scoring.models import Board, Regrade, Submission

ASSIGNMENT_FLAG = Assignment.Flag.choices
ASSIGNMENT_STATE = Assignment.State.choices
BOARD_STATE = Board.State.choices
CAMPAIGN_STATE = Campaign.State.choices
CASE_KIND = Case.Kind.choices
CASE_STATE = Case.State.choices
LABEL_FILE_FORM = CampaignImport.Form.choices
# Files with labels and with suggestions alike.
LABEL_FILE_STATE = CampaignImport.State.choices
REVIEW_GIVEN_VERDICT = GIVEN_VERDICTS
OWN_GOLD_OUTCOME = [(outcome, outcome) for outcome in OUTCOMES]
REVIEW_ROUND_STATE = ReviewRound.State.choices
REVIEW_VERDICT = ReviewItem.Verdict.choices
SCREENING_VERDICT = Screening.Verdict.choices
IMPORT_FORM = ImportRun.Form.choices
DATASET_TASK_KIND = DatasetTask.Kind.choices
BATCH_STATE = Batch.State.choices
AUDIT_STATE = [(state, state) for state in ("incomplete", "accepted", "rejected")]
DISPUTE_STATE = Dispute.State.choices
SUBMISSION_VERDICT = [choice for choice in Submission.Verdict.choices if choice[0]]
REGRADE_STATE = Regrade.State.choices
DOCUMENT_TYPE = DocumentType.choices
DOCUMENT_KIND = Document.Kind.choices
DOCUMENT_STATE = Document.State.choices
FINDING_KIND = PiiFinding.Kind.choices
FINDING_DECISION = PiiFinding.Decision.choices
FINDING_GIVEN_DECISION = [("kept", "kept"), ("masked", "masked")]
DUPLICATE_DECISION = NearDuplicate.Decision.choices
DATASET_VISIBILITY = Dataset.Visibility.choices
RELEASE_VISIBILITY = Release.Visibility.choices
# Imports and gradings alike.
WORK_STATE = ImportRun.State.choices
