"""Which keys are settings, of whom, and in which spelling."""
