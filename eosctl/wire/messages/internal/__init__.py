"""Generated values of internal records; do not edit."""
