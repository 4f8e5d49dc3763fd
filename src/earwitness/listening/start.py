"""A study file to start from."""

from __future__ import annotations

import json

from earwitness.listening.kinds import KINDS, Kind
from earwitness.listening.kinds.single import SingleKind

FILE = """\
# A study with listeners. `earwitness study check study.yaml` prints the plan and its balance.
title: My listening test
seed: 1  # another seed, another design

{systems}
# A table of clips, CSV or JSONL: name (of the file, without its ending), seconds, and whatever else
# is known of a clip. Without this line, clips are what the folders of `files` have.
material: clips.csv

# Columns of that table in which the subsets of the panels are to be alike.
balance:
  categories: []  # such as [session, location, sex]
  numbers: []  # such as [snr]

listeners: {listeners}
panels: {panels}  # each hears another subset of the clips
rest_minutes: 5  # between sessions

blocks:
  - kind: {kind}  # {title}
    clips: {clips}  # that one listener hears; left out: as many as there are for a panel
    sessions: {sessions}
    rating_seconds: {seconds}  # to answer one question
    # heard: 3  # systems that one listener hears, if not all
    parameters:
{parameters}

{first}# training: 4  # trials for practice, of clips that are not heard later

language: en
instructions: |
  {instructions}
# consent: |
#   I have read what this study is about, and may stop at any time.
forms:
  before:
    - {{name: age, prompt: "How old are you?", answer: number, needed: false}}
  after:
    - {{name: remarks, prompt: "Is there anything to tell us?", needed: false}}

# Said before anybody listens, so that it cannot be chosen afterwards.
screening: []  # such as [{{rule: {rule}}}]
analysis:
  interval: cluster_t
  level: 0.95
  correction: holm
"""
SOUNDS = """\
# Folders with the same file names in each; the names of the folders are the systems.
systems: [C0, C1, C2, C3, C4]
# files: "audio/{system}/{item}.wav"  # where they are; if given, every file must be there
"""
CAPTIONS = """\
# Who wrote the captions: people and programs. All are about the same sounds.
systems: [person, model]
captions: captions.csv  # CSV or JSONL: item, system, caption
# files: "clips/{item}.wav"  # where the sounds are; if given, every file must be there
# juries: {experts: 10, lay: 10}  # parts of the listeners, by their numbers
# rubric: thumbs  # or one of your own: name, dimensions, total, examples
"""
INSTRUCTIONS = (
    "Listen with headphones, in a quiet room. Hear every sound to its end before you answer."
)
JUDGE = "Hear the clip, read each caption, and judge it by the five numbers below."
FIRST = "# anchors: ref  # a folder with sounds that everybody rates first, by themselves\n"
RULES = {"mushra": "bs1534", "bs1116": "bs1116", "p835": "p808", "acr": "p808", "dcr": "p808"}
SIZES = {"listeners": 32, "panels": 4, "clips": 32, "sessions": 4}  # as published for P.835
SMALLER = {"listeners": 20, "panels": 1, "clips": 12, "sessions": 2}  # where a trial takes longer


def starting_file(name: str) -> str:
    """A commented study file of a kind."""
    kind = KINDS[name]
    return FILE.format(
        kind=name,
        title=kind.title,
        systems=_systems(kind),
        seconds=10 if kind.captioned else 4,
        instructions=JUDGE if kind.captioned else INSTRUCTIONS,
        parameters="\n".join(_parameter(kind, one) for one in kind.parameters()),
        rule=RULES.get(name, "unheard"),
        first=FIRST if issubclass(kind, SingleKind) and not kind.open_reference else "",
        **(SIZES if issubclass(kind, SingleKind) else SMALLER),
    )


def _systems(kind: type[Kind]) -> str:
    if kind.captioned:
        return CAPTIONS
    return SOUNDS + "reference: ref  # the folder with the references\n" * kind().needs_reference


def _parameter(kind: type[Kind], name: str) -> str:
    value = kind.parameters()[name]
    shown = f"[{', '.join(value)}]" if isinstance(value, tuple) else json.dumps(value)
    return f"      {name}: {shown}  # {kind.help(name)}"
