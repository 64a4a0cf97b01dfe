"""Faults made by the bytes that a client or an administrator could send: on the sandbox and on real Kafka alike."""
