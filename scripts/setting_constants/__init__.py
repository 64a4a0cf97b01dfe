"""Compile the names that Kafka's Java constants have for settings."""
