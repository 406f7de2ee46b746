"""The REST API of the dataset manager, below /api/v1/datasets/."""
