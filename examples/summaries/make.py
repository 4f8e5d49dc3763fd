"""Write the example corpus of summaries: eight utterances, five annotators, three systems.

Each word of the hand-written utterances has an importance from 0 to 9. Annotators and systems keep
the words that are most important to them; opinions differ slightly at random.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SAID = {
    "cherry": "the/3 beautiful/6 cherry/9 blossoms/8 in/5 Japan/6 bloom/7 in/6 spring/7",
    "storm": "late/2 last/3 night/4 a/1 heavy/6 storm/9 tore/8 the/2 roof/8 off/7 the/2 old/3 "
    "railway/6 station/8 near/3 the/2 harbour/5 but/4 nobody/8 was/6 hurt/9",
    "budget": "after/2 nine/2 hours/2 of/1 talks/3 the/3 council/8 agreed/8 on/4 a/2 budget/9 "
    "that/5 cuts/7 money/5 for/4 roads/7 and/4 gives/5 more/5 to/4 schools/8",
    "rescue": "two/6 climbers/9 who/3 had/2 been/2 missing/6 since/2 Sunday/4 were/6 found/8 "
    "alive/9 this/2 morning/3 by/4 a/2 rescue/5 dog/7",
    "lecture": "so/0 what/1 we/3 see/4 here/1 is/2 that/2 the/3 ear/8 um/0 the/1 ear/2 hears/8 "
    "loudness/8 on/4 a/3 scale/6 that/3 is/4 nearly/4 logarithmic/9",
    "museum": "the/3 new/6 museum/9 of/5 sound/8 opens/8 on/4 Friday/7 with/3 an/2 exhibition/5 "
    "of/3 early/4 gramophones/6 and/2 entry/5 is/5 free/7 all/1 week/2",
    "meeting": "okay/0 I/1 think/1 we/5 should/5 move/8 the/4 release/9 to/6 March/9 because/5 "
    "the/2 tests/7 are/5 still/3 you/0 know/0 failing/8",
    "river": "for/1 the/1 first/4 time/4 in/2 thirty/5 years/5 salmon/9 have/5 returned/8 to/5 "
    "the/4 river/8 said/2 the/1 water/3 board/4 on/1 Tuesday/2",
}
HEARD = {
    "cherry": "sherry",
    "council": "counsel",
    "ear": "year",
    "tests": "test",
    "salmon": "salmons",
}
PEOPLE = ("anna", "bela", "chen", "dora", "emil")
SHARE = 0.5


def main() -> None:
    """Write both files."""
    rng = random.Random(7)
    references, outputs = list[dict[str, Any]](), list[dict[str, Any]]()
    for item, text in SAID.items():
        pairs = [word.split("/") for word in text.split()]
        words, matter = [word for word, _ in pairs], [float(number) for _, number in pairs]
        times = _times(words, rng)
        people = [{"annotator": name, "positions": _kept(matter, 1.6, rng)} for name in PEOPLE]
        references.append(
            {
                "item": item,
                "words": [[word, *span] for word, span in zip(words, times, strict=True)],
                "references": people,
                "meta": {"kind": "speech" if "um" in words or "okay" in words else "news"},
            }
        )
        careful, eager = _kept(matter, 1.2, rng), _kept(matter, 5.0, rng)
        heard = [
            [HEARD.get(words[p - 1], words[p - 1]), *times[p - 1], round(rng.uniform(0.6, 1), 2)]
            for p in _kept(matter, 2.0, rng)
        ]
        outputs += [
            {"item": item, "system": "careful", "output": {"positions": careful}},
            {
                "item": item,
                "system": "eager",
                "output": {"text": " ".join(words[p - 1] for p in eager)},
            },
            {"item": item, "system": "recognised", "output": {"words": heard}},
        ]
    _write("references.jsonl", references)
    _write("outputs.jsonl", outputs)


def _kept(matter: list[float], noise: float, rng: random.Random) -> list[int]:
    """Return the positions of the words that are most important to an annotator."""
    size = max(1, round(SHARE * len(matter) + rng.choice([-1, 0, 0, 1])))
    own = [number + rng.gauss(0, noise) for number in matter]
    return sorted(sorted(range(1, len(own) + 1), key=lambda p: -own[p - 1])[:size])


def _times(words: list[str], rng: random.Random) -> list[tuple[float, float]]:
    now, found = 0.2, list[tuple[float, float]]()
    for word in words:
        end = now + 0.08 + 0.06 * len(word)
        found.append((round(now, 2), round(end, 2)))
        now = end + rng.choice([0.0, 0.0, 0.05, 0.3])
    return found


def _write(name: str, records: list[dict[str, Any]]) -> None:
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    (HERE / name).write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
