"""Language models and rerankers, each behind its port. Nothing here is loaded until a setting names it."""
