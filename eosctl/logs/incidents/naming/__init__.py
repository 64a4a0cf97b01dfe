"""Complete an incident: its subject, cause, repetitions, and outcome."""
