"""From submitted work to gold: integrity validation, settling, and deciding open cases.

May import `annotation.review`, which a page that becomes gold may make due.
"""
