"""Disputes: challenges of gold facts, raised, decided and withdrawn.

May import `releases`. What an accepted dispute changes in the next release is in
`releases/corrections.py`.
"""
