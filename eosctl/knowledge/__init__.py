"""Reference data: known bugs by version, error codes with advice, client capabilities."""
