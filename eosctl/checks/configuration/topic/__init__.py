"""Rules over topics."""
