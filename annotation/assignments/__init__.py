"""Who labels which document: sharing out, the team of a page, handing over, and returning work.

May import `annotation.adjudication`: a page with no one left to wait for is settled.
"""
