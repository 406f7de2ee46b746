"""What pages and the API of all apps share: requests, answers, model fields, charts.

It may import `portal.facts` and nothing else of ours.
"""
