"""A release of Kafka as data: what its jars declare, written into the tables of the product."""
