"""Metric catalogue, alert rules, and dashboards."""
