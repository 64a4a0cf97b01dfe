"""Detect what brokers and clients refuse: permissions, limits, and settings."""
