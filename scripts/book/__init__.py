"""The generated part of the book."""
