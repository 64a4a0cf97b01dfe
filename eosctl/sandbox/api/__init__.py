"""The APIs that a broker serves: one file each, loaded when the first request of its kind arrives."""
