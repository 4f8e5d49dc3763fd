"""Speech in audio: voice activity, recognition and forced alignment."""

ALIGNERS = ("pocketsphinx", "mms_fa")
ENGLISH_CODES = ("", "en", "eng", "en-us", "en-gb")


def choose_aligner(language: str) -> str:
    """Return the name of the default aligner of a language.

    >>> choose_aligner("en"), choose_aligner("fra")
    ('pocketsphinx', 'mms_fa')
    """
    return "pocketsphinx" if language.lower() in ENGLISH_CODES else "mms_fa"
