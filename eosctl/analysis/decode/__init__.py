"""What is asked of a log while it streams by: which batches, what became of their transactions, what it holds in all."""
