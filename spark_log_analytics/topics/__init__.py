"""Read logs that shippers have written to Kafka topics, as a batch or as a stream."""
