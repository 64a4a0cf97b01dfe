"""What the facts of data directories amount to: damage, contradictions between files, transactions that hang."""
