"""The metadata log: KRaft records, the image that they are replayed into, and each node's copy."""
