"""Location of skims given as sound in their recordings."""
