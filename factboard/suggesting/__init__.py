"""Suggestions for annotators: a model names the facts of pages, and their quotes are found in the
text. A campaign imports the file."""
