"""Make one incident of several that show one fault, each step by another relation."""
