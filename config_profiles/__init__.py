"""Vetted Kafka settings per role and intent, shipped as data."""
