"""The LLM judge: facts of a page and meanings of fields, decided by a model and checked by us.

`facts` and `fields` make questions, `asking` answers each of them once (`cache`, `budget`,
`client`), `checks` holds the answers against gold and prediction. No Django. What all of it means
stands in docs/judge.md.
"""
