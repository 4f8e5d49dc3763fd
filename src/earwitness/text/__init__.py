"""Text processing: words, sentences, timestamps, transcripts, ROUGE and alignments."""
