"""What the coordinator answers and writes: pure functions from a transaction's value and a request to a decision."""
