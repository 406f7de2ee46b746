"""The sample data of the benchmarks whose gold is not a page with fact tags.

Each module makes one `SampleSet`; `base` says what that is, `write` puts it into files.
"""
