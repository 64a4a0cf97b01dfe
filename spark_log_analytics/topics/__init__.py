"""Logs that shippers have written to Kafka's topics: read as they are, and while they are written."""
