"""What a setting is given: sources, typed reading, durations, and references to other places."""
