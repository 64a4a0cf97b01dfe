"""Metric samples from Prometheus endpoints, Prometheus servers, JMX, and Jolokia."""
