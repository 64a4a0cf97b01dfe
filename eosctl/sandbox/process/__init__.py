"""The sandbox as a detached process: specification, state file, control socket, start, and stop."""
