"""An annotator's own work: tasks, saving and submitting spans, suggestions, comments, own gold.

May import the features that a submission triggers, and all others below it.
"""
