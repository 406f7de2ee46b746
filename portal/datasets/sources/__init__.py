"""Reading what comes from outside: the layout of an import, its metadata, pictures, gold files.

Nothing here writes to the database.
"""
