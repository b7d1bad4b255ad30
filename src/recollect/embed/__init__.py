"""Text into vectors, behind one port. Every embedder is lazy: no model, numpy or network until a vector is needed."""
