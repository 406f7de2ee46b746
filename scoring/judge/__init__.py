"""The LLM judge: a language model decides about facts and fields, and its answers are checked.

`facts` and `fields` make questions, `asking` answers each of them once through `client` and a
cache, `checks` compares the answers with gold and prediction. Without Django. See docs/judge.md.
"""
