"""Disputes: reports that gold is wrong, which are raised, decided and withdrawn.

May import `releases`. `releases/corrections.py` applies accepted disputes to the next release.
"""
