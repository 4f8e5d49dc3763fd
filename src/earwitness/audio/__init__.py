"""Audio library: decoding, encoding, streaming and signal processing."""
