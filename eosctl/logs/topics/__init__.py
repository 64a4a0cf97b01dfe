"""Read logs that shippers have written to Kafka topics."""
