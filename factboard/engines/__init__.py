"""Engines: a model behind an endpoint, OCR engines on this machine, any program, any function."""
