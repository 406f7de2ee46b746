"""The log of what people and jobs did. It imports nothing of ours."""
