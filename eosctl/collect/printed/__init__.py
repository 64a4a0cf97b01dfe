"""The output of Kafka's own tools, read as evidence."""
