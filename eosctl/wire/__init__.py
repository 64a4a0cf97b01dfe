"""Kafka's binary formats: messages, frames, record batches, internal-topic records."""
