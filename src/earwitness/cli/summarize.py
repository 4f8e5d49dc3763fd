"""The commands summarize and summarizer: summaries by word extraction, and their models."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from earwitness.audio.decode import facts_of
from earwitness.audio.encode import FILE_FORMATS
from earwitness.cli.main import SubcommandGroup
from earwitness.cli.options import drop_unset
from earwitness.cli.output import (
    EXISTING_FILE,
    FILE,
    OUTPUT_OPTION,
    QUIET_OPTION,
    SOUND_UNIT,
    TextTarget,
    check_results,
    list_option,
    note_on_interruption,
    option,
    output_option,
    print_message,
    print_notes,
    progress_bar,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.errors import UsageError
from earwitness.experiments.systems import make_systems
from earwitness.io.atomic import AtomicFile
from earwitness.io.formats import has_ending, list_endings
from earwitness.scoring.settings import ScoringSettings
from earwitness.speech.recognize import transcribe
from earwitness.summaries.methods.compaction import ScoreWeights, SummarizedSpeech
from earwitness.summaries.methods.dependencies import train_grammar
from earwitness.summaries.methods.inputs import (
    ITEM_ENDINGS,
    SpeechInput,
    join_words,
    read_speech,
    refuse_where,
    transcript_speech,
    write_item_lines,
    write_output_lines,
)
from earwitness.summaries.methods.scores import find_language
from earwitness.summaries.methods.summarize import (
    ENGLISH,
    Scope,
    SummarizerSettings,
    choose_tokenizer,
    open_models,
    parse_weights,
    summarize_speech,
)
from earwitness.summaries.methods.tune import (
    format_tuning,
    read_references,
    read_weights,
    tune_weights,
    write_weights,
)
from earwitness.task import Filter, parse_where
from earwitness.text.timed_transcripts import TRANSCRIPTS
from earwitness.text.words import TOKENIZERS

if TYPE_CHECKING:
    from earwitness.summaries.methods.passages import SpokenSummary

INTERRUPTED_NOTE = "recognized words are kept — run it again to resume"
UTTERANCE_UNIT = "utterances"

# --- Options -------------------------------------------------------------------------------------


model_options = signature_options(open_models, "topic")  # of all commands that summarize
WHERE_OPTION = signature_options(ScoringSettings, only=("where",))


# --- Command summarize ---------------------------------------------------------------------------


@click.command("summarize")
@click.argument("source", type=EXISTING_FILE)
@signature_options(SummarizerSettings, "weights", "beam")
@list_option(
    "-o",
    "--output",
    "outputs",
    type=FILE,
    help="File to write (repeatable): .jsonl (kept positions, for earwitness score), .txt (text), "
    f".html (page that shows kept words), or {', '.join(FILE_FORMATS)} (cut from the audio).",
)
@option(
    "--recording",
    type=EXISTING_FILE,
    metavar="FILE",
    help="Recording of a transcript with word times, for pages and audio files.",
)
@list_option(
    "--weight",
    "weights",
    metavar="SCORE=λ|FILE",
    help="Weight of L (linguistic), I (significance), C (confidence) or T (concatenation), 0 to "
    "switch it off; or the file of summarizer tune (repeatable).  [default: L=1, I=1, C=1, T=2]",
)
@WHERE_OPTION
@model_options
@option("--system", default="compaction", help="System name.")
@option(
    "--write",
    "content",
    choices=["positions", "words", "items"],
    help="What .jsonl files have: kept positions; kept words; or all words as items, for "
    "references.  [default: words if items have recognized words, else positions]",
)
@signature_options(transcribe, only=("recognizer", "cache"))
@QUIET_OPTION
def summarize_command(
    source: Path,
    ratio: float | None,
    scope: Scope | None,
    outputs: tuple[Path, ...],
    recording: Path | None,
    weights: tuple[str, ...],
    where: tuple[str, ...],
    system: str,
    content: str | None,
    recognizer: str | None,
    cache: Path | None,
    **models: Any,
) -> None:
    """Summarize speech by word extraction (compaction).

    SOURCE is an audio file, which is recognized; a transcript with or without times (.txt, .ctm,
    .srt, .vtt, .json …); or a file of items or references (.jsonl). The summary is printed, one
    line per utterance, unless it is written to a file (.txt).

    \b
    earwitness summarize talk.mp3 -o summary.wav -o summary.html
    earwitness summarize talk.srt --ratio 0.3 --scope speech
    earwitness summarize references.jsonl -o outputs.jsonl
    """
    weight_files = [Path(text) for text in weights if "=" not in text]
    given = [text for text in weights if "=" in text]
    check_results(
        [source, recording, *weight_files, models["language_model"], models["grammar"]], outputs
    )
    output, text, page, spoken = sort_outputs(outputs)
    if recording is not None and spoken is None and page is None:
        raise UsageError("--recording is for pages and audio files — add -o FILE.html or FILE.wav")
    if content is not None and output is None:
        raise UsageError("--write is about JSON Lines — add -o FILE.jsonl")
    files = {path: AtomicFile(path) for path in outputs}  # refuses paths that cannot be written
    language, recognizer = models["language"] or ENGLISH, recognizer or "pocketsphinx"
    tokenizer = choose_tokenizer(language)
    if len(weight_files) > 1:
        raise UsageError("--weight: only one file can be set")
    start = read_weights(weight_files[0]) if weight_files else None
    chosen = drop_unset({"ratio": ratio, "scope": scope})
    settings = SummarizerSettings(**chosen, weights=parse_weights(given, start))
    if not system.strip():
        raise UsageError("--system is empty — give the system a name")
    opened, notes = open_models(**drop_unset(models))
    check_weights(settings.weights, given, models["grammar"])
    if recording is not None:
        facts_of(recording)  # refuses files that cannot be read
    with warnings_as_notes():
        speech, sound = read_source(
            source,
            recording,
            tokenizer,
            recognizer,
            cache,
            language=language,
            where=parse_where(where),
        )
        if sound is None and spoken is not None:
            raise UsageError(f"{spoken} requires the audio — set --recording FILE")
        if speech.recognized and content == "positions":
            raise UsageError(
                "positions of recognized words are not those of the transcript — use --write words"
            )
        with progress_bar(unit=UTTERANCE_UNIT) as progress:
            made = summarize_speech(
                speech,
                opened,
                settings,
                notes=notes,
                tokenize=tokenizer,
                recognizer=recognizer if sound == source else "",
                progress=progress,
            )
        as_words = speech.recognized if content is None else content == "words"
        written: dict[Path | None, Iterable[str]] = {
            output: write_item_lines(made, separate=speech.separate)
            if content == "items"
            else write_output_lines(made, system, separate=speech.separate, as_words=as_words),
            text: [summary_text(made)],
        }
        heard = None if sound is None else render_sound(made, sound, required=spoken is not None)
        if page is not None:
            from earwitness.summaries.methods.page import summary_page

            shown = find_language(language)
            written[page] = [summary_page(made, heard, title=made.name, language=shown)]
        if spoken is not None and heard is not None:
            from earwitness.summaries.methods.passages import write_spoken_summary

            made = replace(made, notes=(*made.notes, *write_spoken_summary(spoken, heard)))
        for path in outputs:
            if path in written:
                with files[path] as file:
                    file.writelines(written[path])
    if text is None:
        click.echo(summary_text(made), nl=False)
    share = f" ({made.kept_count / made.word_count:.0%})" if made.word_count else ""
    kept = f"kept {made.kept_count:,} of {made.word_count:,} words{share}"
    print_notes((kept, *made.notes))
    for path in outputs:
        print_message(f"wrote {path}")


def sort_outputs(paths: Sequence[Path]) -> list[Path | None]:
    """Return the files for positions, text, page and audio, by their endings."""
    kinds = ((".jsonl",), (".txt",), (".html", ".htm"), tuple(FILE_FORMATS))
    endings = [ending for kind in kinds for ending in kind]
    for path in paths:
        if path.suffix.lower() not in endings:
            raise UsageError(f"{path}: unknown output format — use {', '.join(endings)}")
    sorted_paths = [[path for path in paths if path.suffix.lower() in kind] for kind in kinds]
    for same in sorted_paths:
        if len(same) > 1:
            raise UsageError(f"{same[0]} and {same[1]} would have the same content — set one")
    return [same[0] if same else None for same in sorted_paths]


def check_weights(weights: ScoreWeights, given: Sequence[str], grammar: str | None) -> None:
    """Refuse weights that use no score, and note those without effect."""
    if not any((weights.linguistic, weights.significance, weights.confidence)) and not grammar:
        raise UsageError("all weights are 0, so no words can be chosen — set --weight I=1")
    names = [text.partition("=")[0].strip().lower() for text in given]
    if not grammar and {"t", "concatenation"} & {*names} and weights.concatenation:
        print_message("note: T is not used, since no grammar is given — set --grammar")
    if grammar and not weights.concatenation:
        print_message("note: the grammar is not used, since the weight of T is 0")


def summary_text(speech: SummarizedSpeech) -> str:
    """Return the summary, one line per utterance that has words left."""
    lines = (
        join_words(compaction.words) for compaction in speech.compactions if compaction.positions
    )
    return "".join(f"{line}\n" for line in lines)


def render_sound(speech: SummarizedSpeech, audio: Path, *, required: bool) -> SpokenSummary | None:
    """Return the spoken summary, or None with a note if words have no times."""
    from earwitness.summaries.methods.passages import find_passages, render_summary

    timed = all(
        compaction.utterance.times for compaction in speech.compactions if compaction.positions
    )
    if not timed and not required:
        print_message("note: words have no times, so the page has no sound")
        return None
    return render_summary(audio, find_passages(speech, facts_of(audio).seconds))


def read_source(
    source: Path,
    recording: Path | None,
    tokenizer: str,
    recognizer: str,
    cache: Path | None,
    *,
    language: str,
    where: Filter,
) -> tuple[SpeechInput, Path | None]:
    """Return the utterances of a file and its audio; audio is recognized."""
    from earwitness.recordings.recording import SOUND_ENDINGS

    if source.suffix.lower() not in SOUND_ENDINGS:
        speeches = read_speech(source, tokenizer, where=where)
        if len(speeches) > 1:
            names = ", ".join(speech.name for speech in speeches[:3])
            raise UsageError(
                f"{source}: has {len(speeches):,} recordings ({names} …) — give one per file"
            )
        if recording is not None and speeches[0].separate:
            raise UsageError("--recording is that of a transcript, not of items")
        return speeches[0], recording
    refuse_where(source, where)
    if recording is not None:
        raise UsageError("--recording is for transcripts — SOURCE is audio itself")
    with (
        note_on_interruption(INTERRUPTED_NOTE),
        progress_bar(unit=SOUND_UNIT) as progress,
    ):
        found = transcribe(
            source, recognizer=recognizer, language=language, cache=cache, progress=progress
        )
    speech = transcript_speech(found.transcript, tokenizer)
    if not speech.utterances:
        raise UsageError(f"{source}: no words were recognized")
    return speech._replace(notes=(*speech.notes, *found.notes)), source


# --- Command summarizer --------------------------------------------------------------------------


TEXTS_ARGUMENT = click.argument(
    "texts",
    nargs=-1,
    required=True,
    type=EXISTING_FILE,
    metavar="TEXT…",
)
TEXT_LANGUAGE_OPTION = signature_options(open_models, only=("language",))


@click.group("summarizer", cls=SubcommandGroup)
def summarizer_command() -> None:
    """Estimate the models and weights of the speech summarizer.

    \b
    earwitness summarizer train-lm texts/*.txt -o model.arpa
    earwitness summarizer tune references.jsonl -o weights.json
    """


@summarizer_command.command("train-lm")
@TEXTS_ARGUMENT
@TEXT_LANGUAGE_OPTION
@OUTPUT_OPTION
def train_lm_command(texts: tuple[Path, ...], language: str | None, output: Path | None) -> None:
    """Estimate a language model from text.

    TEXT is a text file, of which every line is split into sentences, or a transcript (.srt, .json
    …). The model (interpolated Kneser–Ney) is written in the ARPA format.

    \b
    earwitness summarizer train-lm news.txt -o news.arpa
    earwitness summarizer train-lm japanese.txt --language ja -o japanese.arpa
    """
    from earwitness.summaries.methods.language_models import train_language_model
    from earwitness.text.ngrams import write_arpa

    target = TextTarget(output, texts)
    tokenizer = choose_tokenizer(language or ENGLISH)
    model = train_language_model(iterate_texts(texts, tokenizer), tokenize=tokenizer)
    target.write("".join(write_arpa(model)))


def has_speech(path: Path) -> bool:
    """Whether a file has the ending of transcripts or of items."""
    return has_ending(path.name, (*list_endings(TRANSCRIPTS), *ITEM_ENDINGS))


def iterate_texts(paths: Sequence[Path], tokenize: str) -> Iterator[Path | str]:
    """Yield text files, and the utterances of transcripts and items as lines."""
    for path in paths:
        if not has_speech(path):
            yield path
            continue
        for speech in read_speech(path, tokenize):
            yield from (join_words(utterance.words) for utterance in speech.utterances)


@summarizer_command.command("train-grammar")
@TEXTS_ARGUMENT
@signature_options(train_grammar, "classes", "iterations", "split", "treebank")
@TEXT_LANGUAGE_OPTION
@output_option("Output file.", required=True)
@QUIET_OPTION
def train_grammar_command(
    texts: tuple[Path, ...],
    language: str | None,
    output: Path,
    **options: Any,
) -> None:
    """Estimate a dependency grammar from text or a treebank.

    TEXT is a text file, of which every line is split into sentences, or a treebank (.conllu). A
    treebank is counted; texts improve the grammar by the inside–outside algorithm.

    \b
    earwitness summarizer train-grammar treebank.conllu -o grammar.json
    earwitness summarizer train-grammar treebank.conllu talks.txt -o grammar.json
    """
    check_results(texts, [output])
    AtomicFile(output)
    for path in texts:
        if has_speech(path):
            raise UsageError(f"{path}: is a transcript — give text (.txt) or a treebank (.conllu)")
    with warnings_as_notes(), progress_bar(unit="sentences") as progress:
        split = TOKENIZERS[choose_tokenizer(language or ENGLISH)]
        grammar = train_grammar(texts, split=split, progress=progress, **drop_unset(options))
    grammar.save(output)
    print_message(f"wrote {output}")


@summarizer_command.command("tune")
@click.argument("references", type=EXISTING_FILE)
@signature_options(tune_weights, "beam", "folds")
@WHERE_OPTION
@model_options
@output_option("Weights (JSON).")
@QUIET_OPTION
def tune_command(
    references: Path,
    ratio: float | None,
    where: tuple[str, ...],
    seed: int | None,
    output: Path | None,
    **models: Any,
) -> None:
    """Fit the weights of the scores to reference summaries.

    REFERENCES is a file of reference summaries (JSON Lines). The weights maximize the mean
    SumACCY; the result of cross-validation is printed.

    \b
    earwitness summarizer tune references.jsonl -o weights.json
    earwitness summarize talk.srt --weight weights.json
    """
    check_results([references, models["language_model"], models["grammar"]], [output])
    if output is not None:
        AtomicFile(output)
    opened, notes = open_models(**drop_unset(models))
    tokenizer = choose_tokenizer(opened.language)
    utterances, cases = read_references(references, tokenizer, where=parse_where(where))
    with warnings_as_notes(), progress_bar(unit="fits") as progress:
        tuned = tune_weights(
            utterances, cases, opened, ratio=ratio, seed=seed or 0, progress=progress
        )
    click.echo(format_tuning(tuned), nl=False)
    print_notes(notes)
    if output is not None:
        write_weights(tuned, output)
        print_message(f"wrote {output}")


@summarizer_command.command("systems")
@click.argument("references", type=EXISTING_FILE)
@signature_options(make_systems, "weights", "tokenize")
@option("--weight", "weights_file", type=FILE, help="File of weights from summarizer tune.")
@model_options
@OUTPUT_OPTION
def systems_command(
    references: Path,
    ratio: float | None,
    weights_file: Path | None,
    output: Path | None,
    **models: Any,
) -> None:
    """Summarize items with up to nine combinations of the scores.

    REFERENCES is a file of reference summaries (JSON Lines). Each combination is a system; those
    whose scores are not available are left out.

    \b
    earwitness summarizer systems references.jsonl -o outputs.jsonl
    earwitness experiment references outputs.jsonl references.jsonl -o report.html
    """
    names = (models["language_model"], models["grammar"], weights_file)
    target = TextTarget(output, [references, *names])
    opened, notes = open_models(**drop_unset(models))
    made = make_systems(
        references,
        opened,
        weights=None if weights_file is None else read_weights(weights_file),
        ratio=ratio,
        tokenize=choose_tokenizer(opened.language),
    )
    target.write("".join(f"{json.dumps(output, ensure_ascii=False)}\n" for output in made.outputs))
    print_notes((*notes, *made.notes))
