"""Resolution: names as the source writes them → the files and symbols they mean. Pure over a tree of outlines."""
