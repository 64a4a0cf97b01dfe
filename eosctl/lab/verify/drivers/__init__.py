"""Programs that provide the clients of other languages, and their preparation."""
