"""What forms need to know of agreement without its numerical libraries."""

# The code of what is not marked, which no label may be called.
OUTSIDE = "O"
