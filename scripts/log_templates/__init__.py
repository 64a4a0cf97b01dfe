"""Extracts the log templates of Kafka's releases from their jars; see ``__main__``."""
