"""The prose linter: words and constructions that no text of the project may have, and where they still stand."""
