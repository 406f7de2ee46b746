"""The REST API of scoring, below /api/v1/boards/ and /api/v1/submissions/."""
