"""Write recognized.jsonl: the English utterances, spoken by flite and recognized by pocketsphinx.

Needs flite and the extra ``speech``. Utterances and summaries are those of english.jsonl, which is
not changed.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from earwitness.speech.recognize import transcribe

HERE = Path(__file__).parent
VOICE = "slt"


def main() -> None:
    """Write the file."""
    lines = (HERE / "english.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    with TemporaryDirectory() as folder:
        made = [_recognize(record, Path(folder)) for record in records]
    text = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in made)
    (HERE / "recognized.jsonl").write_text(text, encoding="utf-8")


def _recognize(record: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the record with recognized words: word, start, end, confidence."""
    audio = folder / f"{record['item']}.wav"
    text = " ".join(record["words"])
    subprocess.run(["flite", "-voice", VOICE, "-t", text, "-o", str(audio)], check=True)
    found = transcribe(audio, detector="none", cache=folder / "cache")
    words = [
        [word.word, round(word.start, 2), round(word.end, 2), round(word.confidence or 0.0, 4)]
        for segment in found.transcript.segments
        for word in segment.words
    ]
    references, meta = record.pop("references"), record.pop("meta")
    return {**record, "recognized": words, "references": references, "meta": meta}


if __name__ == "__main__":
    main()
