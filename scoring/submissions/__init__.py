"""Submissions: sent, shown, published, withdrawn, and managed by organisers.

The top feature: it may import all others.
"""
