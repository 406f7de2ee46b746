"""The task tree of FCMBench, and the subtasks that have rules of their own."""

PERCEPTION = ("IQE", "DTR", "KIE")
REASONING = ("CC", "VC", "NC", "RR")
TASKS = (*PERCEPTION, *REASONING)

TASK_NAMES = {
    "IQE": "Image Quality Evaluation",
    "DTR": "Document Type Recognition",
    "KIE": "Key Information Extraction",
    "CC": "Consistency Checking",
    "VC": "Validity Checking",
    "NC": "Numerical Calculation",
    "RR": "Rationality Review",
}

# Asks which distortion an image has, so conditions and languages are compared without it.
QUALITY_TASK = "IQE"
NORMAL = "Normal Captures"
# The others, in the order of the paper's table 2.
CONDITIONS = (
    "Off-axis Viewpoints",
    "Uneven Illumination",
    "Specular Reflections",
    "Out-of-focus",
    "Small ROIs",
    "Secondary Captures",
    "Cluttered Background",
    "Overlaid Watermarks",
    "Cropped Captures",
    "Multi-doc Images",
)

CHINESE, ENGLISH = "Chinese", "English"
_ENGLISH_PREFIX = "en."

_NUMBER = ("num_cal_001", "num_cal_002")
_PRESENT_ONLY = "doc_cla_003"
_LEFT_OUT = "num_cal_005"


def language_of(subtask: str) -> str:
    """English subtasks begin with `en.`; all others are Chinese."""
    return ENGLISH if subtask.startswith(_ENGLISH_PREFIX) else CHINESE


def asks_for_a_number(subtask: str) -> bool:
    """Whether the answer is one number, right when it is close enough."""
    return subtask.endswith(_NUMBER)


def counts_present_only(subtask: str) -> bool:
    """Whether only the document types said to be present count, not those said to be missing."""
    return subtask.endswith(_PRESENT_ONLY)


def is_left_out(subtask: str) -> bool:
    """Whether the published evaluator does not grade the subtask."""
    return subtask.endswith(_LEFT_OUT)
