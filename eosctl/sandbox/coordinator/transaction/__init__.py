"""The transaction coordinator: rules, state log, markers, producer ids, and verification."""
