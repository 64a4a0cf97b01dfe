"""The part of the book that is made from the program itself."""
