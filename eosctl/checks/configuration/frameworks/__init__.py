"""Rules over what wraps the clients: Flink and Spring."""
