"""Incidents and exceptions from logs, and what Kafka's files say at scale."""
