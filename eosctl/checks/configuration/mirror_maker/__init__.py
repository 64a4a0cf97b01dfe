"""Rules over MirrorMaker 2."""
