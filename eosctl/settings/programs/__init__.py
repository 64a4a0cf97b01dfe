"""What starts a program: command lines, scripts, units, and the environment."""
