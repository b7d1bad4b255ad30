"""The verb recall: read → gather → fuse → boost → score → rerank → pack. Recall never writes."""
