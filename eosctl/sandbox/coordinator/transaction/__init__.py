"""The transaction coordinator: pure rules, state log, markers, producer ids, verification."""
