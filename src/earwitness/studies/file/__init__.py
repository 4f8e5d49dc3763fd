"""The study file: YAML keys, checks, material, listener playlists and webMUSHRA import."""
