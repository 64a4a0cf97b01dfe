"""The demonstration of `eosctl demo`, from fault to repair, as a series of commands that a user would type.

`steps` shows and runs commands, `incident` lists them, `mining` reads the logs, `programs` has the applications. The
package imports only eosctl's errors and uses the command line for everything else.
"""
