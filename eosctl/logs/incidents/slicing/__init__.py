"""Judge long logs in parts of limited size."""
