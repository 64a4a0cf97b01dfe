"""Client metrics subscriptions (KIP-714): which metrics clients push, and how often."""
