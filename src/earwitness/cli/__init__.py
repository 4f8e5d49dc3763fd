"""The command line.

Results go to standard output, messages to standard error. Exit status: 0 success, 1 output could
not be written, 2 invalid input or argument, 130 interrupted, 143 terminated.
"""
