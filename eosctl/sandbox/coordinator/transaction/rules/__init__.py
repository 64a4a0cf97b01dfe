"""The coordinator's rules: pure functions from a transaction's value and a request to a decision."""
