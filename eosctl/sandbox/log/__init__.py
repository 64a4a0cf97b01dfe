"""One partition's log: bytes on disk, producer state, leader epochs, the last stable offset."""
