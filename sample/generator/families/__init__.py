"""The pages. `BUILDERS` of each module maps page ids to the functions that fill them."""
