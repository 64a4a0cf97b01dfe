"""Long proofs, with their records in docs/proofs."""
