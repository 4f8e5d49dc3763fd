"""The command line.

Data goes to standard output, talk to standard error. Exit status: 0 all went well, 1 the
output could not be written, 2 the input or an argument was bad, 130 interrupted, 143 terminated.
"""
