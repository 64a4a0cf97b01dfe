"""How the program starts: commands loaded on demand, their help, the values of their options, and one run."""
