"""Options of earlier versions, and what takes their place."""

from __future__ import annotations

# an option of one command only follows its name
TABLE = """
--given: --constant
--judgements: further arguments, after REFERENCES
--lm: --language-model NAME|FILE
--make-systems: earwitness summarizer systems
--means: --layout means
--mixed: the default: mixed models are fitted
--over: --generalize
--pilot-study: --pilot
--points: --sizes
--protocol: an argument, such as: earwitness study new p835
--sample: --column sample=COLUMN
--score-sample: --score-column sample=COLUMN
--screen: --screening
--swap: --generalize
--tokenize: --language CODE (ja for Japanese)
--topic: earwitness.summarize(…, topic=RULE) in Python
--weights-file: --weight FILE
agree --adjust: the default: means are adjusted for items
agree --correction: the default: p is corrected by the step-down max-T method
agree --low: --low-is-good
agree --rank: --coefficient
audio clips --covariates: --covariate FILE
audio clips --fields: --pattern PATTERN
audio clips --gap: earwitness.audio_clips(…, gap=SECONDS) in Python
audio clips --guard: earwitness.audio_clips(…, guard=SECONDS) in Python
audio clips --margin: --silence SECONDS
audio clips --max-per-recording: --count N, or max_per_recording=N in Python
audio clips --max-seconds: --seconds MIN,MAX
audio clips --min-seconds: --seconds MIN,MAX
audio clips --min-speech: earwitness.audio_clips(…, min_speech=SECONDS) in Python
audio clips --numbers: --number COLUMN for each of them
audio clips --speakers: --covariate FILE
audio clips --threshold: earwitness.audio_clips(…, threshold=SHARE) in Python
audio conditions --band: earwitness.audio_conditions(…, band="narrow") in Python
audio conditions --talker: files that have the names of talkers, such as f1.wav
audio normalize --length: --fit keep|pad|trim
audio normalize --system: --condition NAME
audio select --numbers: --number COLUMN for each of them
audio select --shares: earwitness.audio_select(…, shares="equal") in Python
browse --cache-size: another folder (--cache); it is cut to 20 GB
browse --skim: --labels FILE.json
browse --speech-model: --detector NAME|FILE
compare --alpha: --level, which is 1 − alpha
compare --pattern: --custom-pattern REGEX
study analyse --doubled: earwitness.study_analyse(…, doubled=RULE) in Python
study analyse --folder: -o FOLDER
experiment references --exact: more --orders; if there are no more, all are used
experiment references --isolated: --simulate isolated=N
experiment references --isolated-rule: isolated_rule in Python
experiment references --items: --simulate items=N
experiment references --judges: --simulate judges=N
experiment references --people: --simulate people=N
experiment references --ratio: --simulate ratio=SHARE
experiment references --resume: --cache
experiment references --systems: --simulate systems=N
gather --pattern: --custom-pattern REGEX
gather --spoken: --transcript FILE
people --pattern: --custom-pattern REGEX
score --pattern: --custom-pattern REGEX
score --repeats: earwitness.score(…, repeats=N) in Python
serve --audio: no option: audio files are measured unless --no-audio is set
serve --clips: --web URL
serve --outside-id: PROLIFIC_PID=ID in the address of /join, for any service
serve --resume: --on-return resume|session|block
skim --again: another folder, or delete the skims
skim --ending: --to FORMAT
skim --speech-model: --detector NAME|FILE
soundscape --show: -o FILE.yaml
study export --all: --content all
study export --positions: --content positions
study export-xlsx --names: --rename
study export-xlsx --pattern: --rename
study links --first: --listeners 1-N
study plane --no-practice: --practice none
study plane --retest: the key repeats under quality in study.yaml
study plane --table: --skims
study power --difference: --differences
study power --runs: runs in Python
study sheets --listener: --listeners
study sheets --table: --template
study simulate --bias: --population bias=VALUE
study simulate --careless: --population careless=VALUE
study simulate --fatigue: --population fatigue=VALUE
study simulate --inconsistency: --population inconsistency=VALUE
study simulate --items: --population items=VALUE
study simulate --mixture: --population mixture=VALUE
study simulate --quality: --population SYSTEM=VALUE
study simulate --taste: --population taste=VALUE
summarize --audio: --recording FILE
summarize --beam: earwitness.summarize(…, beam=N) in Python
summarize --page: -o FILE.html
summarize --spoken: -o FILE.wav
summarize --text: -o FILE.txt
summarizer train-grammar --classes: train_grammar(…, classes=N) in Python
summarizer train-grammar --iterations: train_grammar(…, iterations=N) in Python
summarizer train-lm --order: train_language_model(…, order=N) in Python
summarizer tune --folds: tune_weights(…, folds=N) in Python
transcribe --no-vad: --detector none
transcribe --vad: --detector webrtc
"""


def old_options() -> dict[str, str]:
    """Return what to use instead of each option.

    >>> old_options()["agree --low"]
    '--low-is-good'
    """
    rows = (line.partition(": ") for line in TABLE.strip().splitlines())
    return {option: new for option, _, new in rows}
