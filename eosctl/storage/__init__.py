"""Kafka's files on disk: segments, indexes, snapshots, checkpoints."""
