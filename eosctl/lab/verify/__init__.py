"""The black-box verifier of exactly-once behavior."""
