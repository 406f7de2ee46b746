"""Models that organisers run as a job of the site, and re-runs that verify submissions."""
