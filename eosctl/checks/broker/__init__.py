"""Checks of brokers: settings and versions on which exactly-once rests."""
