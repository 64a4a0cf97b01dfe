"""What is found in configuration files, and settings explained."""
