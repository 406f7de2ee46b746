"""A board's task for other programs that run models: a folder that inspect_ai or
lm-evaluation-harness loads."""
