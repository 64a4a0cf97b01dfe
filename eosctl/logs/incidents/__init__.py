"""What went wrong, judged from log events: one detector a file, and the judge who weighs them against each other."""
