"""Replicas: leaders, followers, ISR, high watermark, and requests that wait for replication."""
