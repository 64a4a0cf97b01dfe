"""What platforms start: workloads, how many processes each has, and the files and variables that they read."""
