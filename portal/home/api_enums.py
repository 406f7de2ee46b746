"""Names for the choice sets of the OpenAPI document (ENUM_NAME_OVERRIDES in the settings).

Fields called `state` or `visibility` occur in several components; without names of their own their
enums would be called by hashes.
"""

from annotation.models import Assignment, Campaign, Case
from portal.datasets.models import Dataset, ImportRun, Release
from scoring.models import Board

ASSIGNMENT_FLAG = Assignment.Flag.choices
ASSIGNMENT_STATE = Assignment.State.choices
BOARD_STATE = Board.State.choices
CAMPAIGN_STATE = Campaign.State.choices
CASE_KIND = Case.Kind.choices
CASE_STATE = Case.State.choices
DATASET_VISIBILITY = Dataset.Visibility.choices
RELEASE_VISIBILITY = Release.Visibility.choices
# Imports and gradings alike.
WORK_STATE = ImportRun.State.choices
