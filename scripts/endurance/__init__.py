"""Long runs of a sandbox process: resource growth, and durability across kill -9."""
