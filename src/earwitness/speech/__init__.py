"""Speech in audio: voice activity, recognition and forced alignment."""
