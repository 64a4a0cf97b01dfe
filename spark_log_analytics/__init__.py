"""Scan logs and Kafka's files on Spark: data sources, jobs, and sinks."""
