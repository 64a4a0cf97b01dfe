"""Configuration files, parsed and resolved with provenance; parameter tables by component and version."""
