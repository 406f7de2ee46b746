"""Disputes: reports that gold is wrong, which are raised, decided and withdrawn.

May import `releases` and the features below it. `releases/corrections.py` applies accepted disputes
to the next release.
"""
