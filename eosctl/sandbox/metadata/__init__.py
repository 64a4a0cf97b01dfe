"""The metadata log: real KRaft records, the image that they replay into, and each node's copy."""
