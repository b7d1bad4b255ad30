"""The code room: source files become a graph of what depends on what, and passages that can be recalled.

Everything here is a projection of the source tree. What people say about code lives with the memories.
"""
