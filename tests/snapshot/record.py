"""Records the snapshot anew: run by ``make snapshot``, on a tree that is known to be right."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from snapshot.cases import LOOSE, NAMES, measured
from snapshot.commands import CHAINS
from snapshot.comparison import CLOSE, difference
from snapshot.runner import RECORDED, run_all


def main() -> None:
    """Write what every command and every metric does, and delete what no command wrote.

    What differs only by rounding, as between processors, stays as it was recorded.
    """
    told: dict[Path, str] = {}
    for chain, commands in CHAINS.items():
        with TemporaryDirectory() as place:
            found = run_all(commands, Path(place))
        told |= {RECORDED / chain / f"{name}.txt": text for name, text in found.items()}
    told |= {RECORDED / "metrics" / f"{name}.json": measured(name) for name in NAMES}
    failed = [path.stem for path, text in told.items() if "\nexit raised " in text]
    if failed:
        sys.exit(f"nothing was recorded; these commands broke: {', '.join(failed)}")
    for path in RECORDED.rglob("*"):
        if path.is_file() and path not in told:
            path.unlink()
    for path, text in told.items():
        loose = LOOSE.get(path.parent.name, LOOSE.get(path.stem, CLOSE))
        if path.exists() and not difference("", path.read_bytes().decode(), text, loose):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    size = sum(len(text.encode()) for text in told.values())
    print(f"recorded {len(told)} files, {size:,} bytes")


if __name__ == "__main__":
    main()
