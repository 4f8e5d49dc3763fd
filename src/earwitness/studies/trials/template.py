"""Parts of the study file that ``study new`` writes, which differ between trial kinds."""

from __future__ import annotations

from dataclasses import dataclass

SOUND_SYSTEMS = """\
# One folder per system, named like the system, with the same file names in each.
systems: [C0, C1, C2, C3, C4]
# files: "audio/{system}/{item}.wav"  # path of each file; if set, all files must exist
"""
LISTENING_INSTRUCTIONS = (
    "Use headphones in a quiet room. Listen to each sound to the end before you answer."
)


@dataclass(frozen=True)
class StudyTemplate:
    """What the study file of a trial kind starts with.

    Parameters
    ----------
    systems
        Keys of the systems and their files, with comments.
    instructions
        Instructions of the listeners.
    seconds
        Expected time per question.
    rule
        Screening rule to suggest.
    listeners, panels, clips, sessions
        Size of the study; clips are those of a listener.
    """

    systems: str = SOUND_SYSTEMS
    instructions: str = LISTENING_INSTRUCTIONS
    seconds: int = 4
    rule: str = "unheard"
    listeners: int = 20
    panels: int = 1
    clips: int = 12
    sessions: int = 2
