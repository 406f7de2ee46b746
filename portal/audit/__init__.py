"""The audit log. Imports no other package of the project."""
