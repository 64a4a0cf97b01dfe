"""Replicas of partitions: leaders, followers, in-sync replicas, the high watermark, waiting requests."""
