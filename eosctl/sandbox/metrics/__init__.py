"""What the sandbox's nodes measure, under the names of Kafka's beans, for Prometheus."""
