"""Generated values of all messages; do not edit."""
