"""What goes out of a campaign as a file and what comes in: labels, and whole campaigns.

May import every other feature; none imports it.
"""
