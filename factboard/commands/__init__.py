"""The commands that ask a site: one module for reading, one for downloads, one for submitting."""
