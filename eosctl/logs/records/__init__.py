"""Read the relevant records of a log from its bytes."""
