"""Analysis of a streamed log: selection of batches, outcomes of transactions, and a summary."""
