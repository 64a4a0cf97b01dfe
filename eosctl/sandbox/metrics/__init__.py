"""Metrics of the sandbox's nodes for Prometheus, under the names of Kafka's MBeans."""
