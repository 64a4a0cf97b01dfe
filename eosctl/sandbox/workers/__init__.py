"""A sandbox in several processes: a supervisor, workers that host the nodes, and the links between workers."""
