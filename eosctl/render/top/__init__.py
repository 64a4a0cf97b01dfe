"""The interactive view of open transactions."""
