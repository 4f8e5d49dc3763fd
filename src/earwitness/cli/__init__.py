"""The command line: verbs are the functions of ``earwitness.api``.

Data goes to standard output, talk to standard error. Exit status: 0 all went well, 2 the input or
an argument was bad, 130 interrupted.
"""

from earwitness.cli.group import main

__all__ = ["main"]
