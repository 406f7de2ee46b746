"""The sample data of benchmarks whose gold has no fact tags.

Each module defines one `SampleSet` (see `base`), and `write` writes its files.
"""
