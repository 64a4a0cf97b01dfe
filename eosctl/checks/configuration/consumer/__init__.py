"""Rules over consumers."""
