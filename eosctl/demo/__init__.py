"""The story from fault to repair that `eosctl demo` tells: commands that a user would type, run one after the other.

`steps` shows and runs commands, `story` says which, `mining` reads the logs, `programs` holds the applications that
take part. The room imports nothing of eosctl but its errors: all that it does it does as a user would, through the
command line.
"""
