"""Programs that lend a run the clients of other languages, and how they are made ready to start."""
