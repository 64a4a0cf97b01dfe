"""Provide the metric catalog, alert rules, and dashboards."""
