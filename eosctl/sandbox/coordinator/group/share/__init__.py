"""Share groups (KIP-932): members, their assignment, and the share-partitions whose state exists."""
