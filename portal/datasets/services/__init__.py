"""The writes of the dataset manager: one noun per module, one verb per function."""
