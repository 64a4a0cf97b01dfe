"""Generated values and codecs of all messages; do not edit."""
