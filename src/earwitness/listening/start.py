"""A study file to start from."""

from __future__ import annotations

from earwitness.listening.kinds import KINDS

FILE = """\
# A study with listeners. `earwitness study check study.yaml` prints the plan and its balance.
title: My listening test
kind: {kind}  # {title}
seed: 1  # another seed, another design

# Folders with the same file names in each; the names of the folders are the systems.
systems: [C0, C1, C2, C3, C4]

# A table with the columns name (of the file, without its ending) and seconds, and whatever else is
# known of a clip.
material: clips.csv

# Columns of that table on which the subsets of the panels are to be alike.
balance:
  categories: []  # such as [session, location, sex]
  numbers: []  # such as [snr]

listeners: 32
panels: 4  # each hears another subset of the clips
clips: 32  # of a subset; left out: as many as there are
sessions: 4
rest_minutes: 5
rating_seconds: 4  # to answer one question
"""


def starting_file(kind: str) -> str:
    """A commented study file of a kind."""
    return FILE.format(kind=kind, title=KINDS[kind].title)
