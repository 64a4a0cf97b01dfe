"""What is asked of a log while it streams by: which batches, the outcome of transactions, what there is in all."""
