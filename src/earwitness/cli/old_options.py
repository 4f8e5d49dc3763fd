"""Options and commands of earlier versions, and what takes their place."""

from __future__ import annotations

# an option of one command only follows its name
TABLE = """
--given: use --constant
--judgements: name the tables of ratings after REFERENCES
--lm: use --language-model NAME|FILE
--make-systems: use earwitness summarizer systems
--match: use --word-match
--matching: use --boundary-matching
--means: use --layout means
--mixed: mixed models are fitted by default
--over: use --generalize
--pilot-study: use --pilot
--points: use --sizes
--protocol: name the protocol as an argument, as in earwitness study new p835
--sample: use --column sample=COLUMN
--score-sample: use --score-column sample=COLUMN
--screen: use --screening
--swap: use --generalize
--tokenise: use --language CODE (ja for Japanese)
--tokenize: use --language CODE (ja for Japanese)
--topic: use earwitness.summarize(…, topic=RULE) in Python
--weights-file: use --weight FILE
agree --adjust: means are adjusted for items by default
agree --correction: p is always corrected by the step-down max-T method
agree --low: use --low-is-good
agree --rank: use --coefficient
audio clips --covariates: use --covariate FILE
audio clips --fields: use --pattern PATTERN
audio clips --gap: use earwitness.audio_clips(…, gap=SECONDS) in Python
audio clips --guard: use earwitness.audio_clips(…, guard=SECONDS) in Python
audio clips --margin: use --silence SECONDS
audio clips --max-per-recording: use --count N, or max_per_recording=N in Python
audio clips --max-seconds: use --seconds MIN,MAX
audio clips --min-seconds: use --seconds MIN,MAX
audio clips --min-speech: use earwitness.audio_clips(…, min_speech=SECONDS) in Python
audio clips --numbers: use --number COLUMN for each of them
audio clips --speakers: use --covariate FILE
audio clips --threshold: use earwitness.audio_clips(…, threshold=SHARE) in Python
audio conditions --band: use earwitness.audio_conditions(…, band="narrow") in Python
audio conditions --talker: name files after their talkers, such as f1.wav
audio normalize --length: use --fit keep|pad|trim
audio normalize --system: use --condition NAME
audio select --numbers: use --number COLUMN for each of them
audio select --shares: use earwitness.audio_select(…, shares="equal") in Python
browse --cache-size: the cache is limited to 20 GB; --cache selects its folder
browse --skim: use --labels FILE.json
browse --speech-model: use --detector NAME|FILE
compare --alpha: use --level, which is 1 − alpha
compare --pattern: use --custom-pattern REGEX
experiment references --exact: set a larger number of --orders
experiment references --grammar: use earwitness summarizer systems, with --grammar FILE
experiment references --isolated-rule: use isolated_rule in Python
experiment references --isolated: use --simulate isolated=N
experiment references --items: use --simulate items=N
experiment references --judges: use --simulate judges=N
experiment references --people: use --simulate people=N
experiment references --ratio: use --simulate ratio=SHARE
experiment references --reading-answers: use earwitness study ratings
experiment references --resume: use --cache
experiment references --systems-file: use earwitness summarizer systems -o FILE
experiment references --systems: use --simulate systems=N
experiment references --words-answers: use earwitness study summaries
experiment simulate: use earwitness experiment references --simulate
gather --pattern: use --custom-pattern REGEX
gather --spoken: use --transcript FILE
people --pattern: use --custom-pattern REGEX
score --pattern: use --custom-pattern REGEX
score --repeats: use earwitness.score(…, repeats=N) in Python
serve --audio: audio files are measured unless --no-audio is set
serve --clips: use --web URL
serve --outside-id: pass PROLIFIC_PID=ID in the address of /join, for any service
serve --resume: use --on-return resume|session|block
skim --again: set another folder, or delete the skims
skim --ending: use --to FORMAT
skim --speech-model: use --detector NAME|FILE
soundscape --show: use -o FILE.yaml
study analyse --doubled: use earwitness.study_analyse(…, doubled=RULE) in Python
study analyse --folder: use -o FOLDER
study export --all: use --content all
study export --positions: use --content positions
study export-xlsx --names: use --rename
study export-xlsx --pattern: use --rename
study export-xlsx --listeners: use --listener 1-N
study import --root: paths are found from the folder of the configuration, or one above it
study links --first: use --listener 1-N
study links --listeners: use --listener 1-N
study plane --no-practice: use --practice none
study plane --retest: set the key repeats under quality in study.yaml
study plane --table: use --skims
study power --difference: use --differences
study power --runs: use runs in Python
study sheets --listeners: use --listener 1-N
study sheets --table: use --template
study simulate --bias: use --population bias=VALUE
study simulate --careless: use --population careless=VALUE
study simulate --fatigue: use --population fatigue=VALUE
study simulate --inconsistency: use --population inconsistency=VALUE
study simulate --items: use --population items=VALUE
study simulate --mixture: use --population mixture=VALUE
study simulate --quality: use --population SYSTEM=VALUE
study simulate --taste: use --population taste=VALUE
study take: use earwitness serve
summarize --audio: use --recording FILE
summarize --beam: use earwitness.summarize(…, beam=N) in Python
summarize --items: use -o FILE.jsonl --write items
summarize --page: use -o FILE.html
summarize --spoken: use -o FILE.wav
summarize --text: use -o FILE.txt
summarizer train-grammar --classes: use train_grammar(…, classes=N) in Python
summarizer train-grammar --iterations: use train_grammar(…, iterations=N) in Python
summarizer train-lm --order: use train_language_model(…, order=N) in Python
summarizer tune --folds: use tune_weights(…, folds=N) in Python
transcribe --no-vad: use --detector none
transcribe --vad: use --detector webrtc
"""
OLD_NAMES = dict(line.split(": ", 1) for line in TABLE.strip().splitlines())


def explain_old_name(place: str, name: str) -> str:
    """Return the message about an option or command of earlier versions, else an empty text.

    >>> explain_old_name("earwitness study", "take")
    'take is not a command any more — use earwitness serve'
    """
    new = OLD_NAMES.get(f"{place.partition(' ')[2]} {name}", OLD_NAMES.get(name))
    kind = "an option" if name.startswith("-") else "a command"
    return f"{name} is not {kind} any more — {new}" if new else ""
