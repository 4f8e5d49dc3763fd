"""Entry point of ``python -m earwitness``."""

from __future__ import annotations

from earwitness.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
