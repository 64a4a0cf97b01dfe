"""A partition's log: bytes on disk, producer state, leader epochs, and the last stable offset."""
