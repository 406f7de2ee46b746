"""Rows that were not submitted: figures that organisers enter from publications, and human runs."""
