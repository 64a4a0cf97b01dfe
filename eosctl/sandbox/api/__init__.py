"""The APIs that a broker serves: one file each, imported for the first request."""
