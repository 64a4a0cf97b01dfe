"""Programs that maintain the project."""
