"""Pure algorithms over links. Knows numbers only: what a node stands for is its caller's affair."""
