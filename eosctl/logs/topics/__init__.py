"""Logs that shippers have written to Kafka's topics."""
