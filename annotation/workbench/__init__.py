"""An annotator's own work: tasks, saving and submitting spans, suggestions, remarks, own gold.

May import every feature that a submission sets going: `annotation.adjudication`,
`annotation.assignments`, `annotation.campaigns`, `annotation.qualification`, `annotation.review`.
"""
