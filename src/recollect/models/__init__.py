"""Language models and rerankers, each behind its port, and the budget that every call of a language model has to pass.

Nothing here is loaded until a setting names it.
"""
