"""Side-by-side timings: our metrics and the packages that are their references, in one run.

`make bench` prints them; `--write FILE` keeps them as a page. Everything runs on data made here
from fixed seeds.
"""
