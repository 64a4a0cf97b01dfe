"""From the text of one format to a tree whose leaves know their lines."""
