"""Rules over brokers, and over what their defaults do to topics."""
