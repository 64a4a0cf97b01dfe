"""Rules over Connect: workers, source and sink connectors."""
