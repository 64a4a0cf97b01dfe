"""Kafka's files on disk: segments, indexes, snapshots, and checkpoints."""
