"""What a verification has shown."""
