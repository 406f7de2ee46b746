"""How far a board's judge can be believed: pages drawn for experts, their reviews, the agreement.

May import `results` and the features below it.
"""
