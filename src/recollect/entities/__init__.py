"""Who and what a text names: finders of mentions, the pipeline that runs them, and the entities they resolve to."""
