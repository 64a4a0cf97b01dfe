"""Kafka's clients inside frameworks and tools, as each of them passes settings on."""
