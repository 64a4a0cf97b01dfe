"""Snapshot files and evidence bundles, without secrets and records."""
