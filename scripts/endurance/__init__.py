"""Long runs of a sandbox in a process of its own: what grows, and what outlives a kill -9."""
