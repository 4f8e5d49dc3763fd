"""``python -m earwitness``."""

from earwitness.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
