"""Rules over Kafka Streams applications."""
