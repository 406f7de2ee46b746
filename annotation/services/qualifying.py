"""Qualification (being written by its helper; this holds the place of `grade_qualification`)."""

from annotation.models import Assignment


def grade_qualification(*, assignment: Assignment) -> None:
    """Compares a submitted qualification page with its known gold."""
    raise NotImplementedError
