"""Simulated captures: page images made worse in a known, seeded and repeatable way. No Django."""

from .captures import CAPTURES, VERSION, Capture, simulate
from .sheets import contact_sheet

__all__ = ["CAPTURES", "VERSION", "Capture", "contact_sheet", "simulate"]
