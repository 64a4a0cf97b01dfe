"""Detect faults within applications and Kafka Streams."""
