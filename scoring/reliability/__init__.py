"""Reliability of a board's judge: samples of pages for experts, their reviews, and agreement.

May import `results` and the features below it.
"""
