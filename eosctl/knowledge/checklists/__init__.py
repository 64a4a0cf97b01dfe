"""Checklists that come with eosctl."""
