"""Tasks of Label Studio: read, written, and placed in a document whose offsets no longer fit.

It may import all of `portal.facts`; only `portal.facts` itself imports it, to export its names.
"""
