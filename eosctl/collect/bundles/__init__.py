"""Snapshots in files and evidence bundles, with what they must not hold taken out."""
