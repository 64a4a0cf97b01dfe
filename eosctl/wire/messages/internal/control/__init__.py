"""Generated values and codecs of internal records; do not edit."""
