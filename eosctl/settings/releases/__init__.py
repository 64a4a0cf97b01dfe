"""Which release of Kafka or of a client is meant."""
