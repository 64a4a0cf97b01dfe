"""Samples of metrics: from pages that Prometheus scrapes, Prometheus itself, JMX and Jolokia."""
