"""Commands of the snapshot, in chains that run apart from each other; order matters in a chain."""

from __future__ import annotations

from snapshot.bad_inputs import BAD_INPUTS
from snapshot.inputs import (
    HEAD,
    STUDY,
    book,
    captioned,
    filled,
    sound,
    sounds,
)
from snapshot.runner import Command

FORMS = ("text", "json", "csv", "md", "html", "latex")
KINDS = ("p835", "acr", "dcr", "ccr", "mushra", "bs1116", "ab", "abx", "preference")
EXPERTS = ("rubric",)

HELP = (  # docs/cli has the help of every command
    Command("help", "--help"),
    Command("version", "--version"),
    Command("metrics", "metrics"),
)

CHAPTERS = "examples/chapters/outputs.jsonl examples/chapters/references.jsonl"
PEOPLE = "examples/chapters/outputs.jsonl examples/chapters/annotators.jsonl"
SRT = """\
1
00:00:00,000 --> 00:00:30,000
Good morning. It rains

2
00:00:30,000 --> 00:01:00,000
in Spain. And now? Music.
"""
VTT = "WEBVTT\n\n00:00.000 --> 00:20.000\nHello\n\n00:20.000 --> 01:00.000\nRain\n"
YOUTUBE = "0:00 Hello\n0:31 Rain in Spain\n0:52 Music\n"
FFMETADATA = (
    ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=29000\ntitle=Hello\n"
    "[CHAPTER]\nTIMEBASE=1/1000\nSTART=29000\nEND=60000\ntitle=Rain\n"
)
PODCAST = (
    '{"version": "1.2.0", "chapters": [{"startTime": 0, "title": "Hello"}, '
    '{"startTime": 33, "title": "Rain"}, {"startTime": 40, "toc": false}]}\n'
)
TRANSCRIPTS = (
    '{"item": "talk", "system": "llm", "output": {"transcript": "# 0:00 - Hello\\nGood morning.\\n'
    '# 0:31 - Rain\\nIt rains in Spain. And now music."}}\n'
)
TALK = (
    '{"item": "talk", "duration": 60, "transcript": "Good morning. It rains in Spain. And now? '
    'Music.", "subtitles": "1\\n00:00:00,000 --> 00:00:30,000\\nGood morning. It rains\\n\\n2\\n'
    '00:00:30,000 --> 00:01:00,000\\nin Spain. And now? Music.\\n", "references": [{"annotator": '
    '"anna", "boundaries": [30, 45], "titles": [["Hello", 0], ["Rain", 30], ["Music", 45]]}, '
    '{"boundaries": [29], "titles": [["Hello there", 0], ["The rain", 29]]}]}\n'
)
CUSTOM = (
    '{"id": "a", "hypothesis": "<<12:30>> First\\ntext\\n<<40:00>> Second", "reference": [752], '
    '"duration": 3000}\n'
)
SOME_BAD = (
    '{"id": "good", "hypothesis": [10, 20], "reference": [11], "duration": 60}\n'
    '{"id": "bad", "hypothesis": ["1:30"], "reference": [11], "duration": 60}\n'
    '{"id": "late", "hypothesis": [61], "reference": [-1, 12], "duration": 60}\n'
)
TITLED = (
    '{"id": "a", "hypothesis": [10, 20], "reference": [11], "duration": 60, "hyp_titles": '
    '[["Hello", 0], ["Rain", 10]], "reference_titles": [["Hello", 0], ["The rain", 11]]}\n'
)

SCORE = (
    *(
        Command(f"score-{form}", f"score {CHAPTERS} --worst 2 --draws 100 --to {form}")
        for form in FORMS
    ),
    Command(
        "score-files",
        f"score {PEOPLE} --collar 1,3 --edge 5 --by kind --by duration:1800 "
        "--show lecture-acoustics --draws 100 --samples out/samples.csv --output out/scores.json",
        {"out/keep.txt": "here\n"},
    ),
    Command("score-samples-jsonl", f"score {PEOPLE} --metric collar --samples out/s.jsonl --quiet"),
    Command(
        "score-metrics",
        f"score {PEOPLE} --metric agreement --metric chunks --metric deviation --metric r_value "
        "--metric segments --metric similarity --chunk-size 3 --frame 1 --draws 50 --to csv",
    ),
    Command(
        "score-best",
        f"score {PEOPLE} --against best --boundary-matching optimal --level 0.9 --seed 3",
    ),
    Command("score-by-annotator", f"score {PEOPLE} --metric collar --by annotator --to md"),
    Command(
        "score-fewer-references",
        f"score {PEOPLE} --metric collar --reference-counts 1,2 --samples out/fewer.csv",
    ),
    Command("score-stdin", "score - --system typed", typed=TITLED),
    Command("score-skip", "score some.jsonl --on-error skip --to json", {"some.jsonl": SOME_BAD}),
    Command("score-empty", "score some.jsonl --on-error empty"),
    Command(
        "score-custom",
        "score custom.jsonl --preset custom_ts --timestamp-format MM:SS --metric collar "
        "--custom-pattern '<<(?P<timestamp>[0-9:]+)>> (?P<title>.*)'",
        {"custom.jsonl": CUSTOM},
    ),
    Command(
        "score-transcripts",
        "score transcripts.jsonl talk.jsonl --preset markdown_ts --metric titles --metric wer "
        "--metric sentences --metric collar --words unicode --tm-rule start_end --of output "
        "--alignments out/words.txt --show talk",
        {"transcripts.jsonl": TRANSCRIPTS, "talk.jsonl": TALK},
    ),
    Command(
        "compare",
        f"compare {CHAPTERS} --metric collar --metric chunks --value collar_f1 --value pk "
        "--by kind --draws 100 --permutations 200 --to html",
    ),
    Command(
        "compare-full",
        f"compare {CHAPTERS} --metric collar --draws 99 --permutations 200 --table full --to latex",
    ),
    Command(
        "compare-files",
        f"compare {PEOPLE} --collar 1,3 --level 0.99 --worst 1 --worst-by collar_f1@3.0 "
        "--draws 100 --permutations 200 -o out/report.tex",
    ),
    Command("people", "people examples/chapters/annotators.jsonl --draws 100"),
    Command(
        "gather-outputs",
        "gather careful eager/talk.txt --preset youtube",
        {"careful/talk.srt": SRT, "careful/walk.vtt": VTT, "eager/talk.txt": YOUTUBE},
    ),
    Command(
        "gather-folders",
        "gather careful podcast -o out/outputs.jsonl",
        {
            "podcast/talk.json": PODCAST,
            "podcast/walk.ffmeta": FFMETADATA,
        },
    ),
    Command(
        "gather-references",
        "gather --durations durations.csv anna --transcript careful -o out/references.jsonl",
        {
            "durations.csv": "item,duration\ntalk,60\nwalk,60\n",
            "anna/talk.json": PODCAST,
            "anna/walk.ffmeta": FFMETADATA,
        },
    ),
    Command(
        "score-gathered",
        "score out/outputs.jsonl out/references.jsonl --metric titles "
        "--metric sentences --tolerance 10",
    ),
    Command("chunkseg", "chunkseg examples/chapters/samples.jsonl --chunk-size 3 --collar 5"),
    Command(
        "chunkseg-file",
        "chunkseg examples/chapters/samples.jsonl --num-bootstrap 20 --output out/chunkseg.json",
    ),
)

SUMMED = "examples/summaries/outputs.jsonl examples/summaries/references.jsonl"
CTM = (
    "news 1 0.0 0.4 the 0.9\nnews 1 0.4 0.4 cherry 0.8\nnews 1 0.8 0.4 blossoms\n"
    "walk 1 0.0 0.4 hello\n"
)
TEXTS = (
    '{"item": "a", "system": "one", "output": {"text": "Cherry trees bloom in spring."}}\n'
    '{"item": "a", "system": "two", "output": {"text": "Trees are green."}}\n'
)
TEXT_REFERENCES = '{"item": "a", "references": [{"text": "The cherry trees bloom in spring."}]}\n'

SUMMARIES = (
    Command("summaries", f"score {SUMMED} --draws 100 --worst 1"),
    Command(
        "summaries-baselines",
        f"score {SUMMED} --metric sumaccy --metric word_accuracy --metric word_strings "
        "--baseline lead --baseline random --show cherry --by words:20 --longest 3 "
        "--objective accuracy --arcs original --boundary exclude --word-match surface --draws 100 "
        "--alignments out/words.txt --samples out/samples.csv",
        {"out/keep.txt": "here\n"},
    ),
    Command("summaries-compare", f"compare {SUMMED} --metric kept --permutations 200 --to json"),
    Command("summaries-people", "people examples/summaries/references.jsonl --draws 100"),
    Command(
        "texts",
        "score texts.jsonl whole.jsonl --metric rouge --metric bleu --smooth exp --to json",
        {"texts.jsonl": TEXTS, "whole.jsonl": TEXT_REFERENCES},
    ),
    Command("gather-ctm", "gather asr.ctm --system asr", {"asr.ctm": CTM}),
    Command(
        "network",
        "network examples/summaries/references.jsonl cherry --to html "
        "--outputs examples/summaries/outputs.jsonl",
    ),
    Command(
        "network-file",
        "network examples/summaries/references.jsonl cherry --arcs original --word-match surface "
        "-o out/cherry.dot",
    ),
)

MODELS = (
    Command(
        "chunkseg-titles",
        "chunkseg titled.jsonl --titles --num-bootstrap 5",
        {"titled.jsonl": TITLED},
    ),
    Command("score-title-bertscore", "score titled.jsonl --metric title_bertscore --metric titles"),
    Command(
        "texts-bertscore",
        "score texts.jsonl whole.jsonl --metric bertscore",
        {"texts.jsonl": TEXTS, "whole.jsonl": TEXT_REFERENCES},
    ),
)

P835 = "examples/agree/p835/scores.csv examples/agree/p835/ratings.csv"
FEWER = "--draws 20 --permutations 20"
AGREE = (
    Command(
        "agree",
        f"agree {P835} --scale OVRL --low-is-good noise_left --baseline loudness {FEWER} --to html",
    ),
    Command(
        "agree-options",
        f"agree {P835} --scale SIG=1:5 --metric pesq --metric sisdr --coefficient pearson "
        "--at system --generalize listeners --mapping linear --screening p808 "
        f"{FEWER} -o out/agree.csv",
        {"out/keep.txt": "here\n"},
    ),
    Command(
        "agree-samples",
        "score examples/agree/summaries/outputs.jsonl examples/agree/summaries/references.jsonl "
        "--samples out/samples.csv --reference-counts 1,2 --draws 20 --output out/scores.txt",
    ),
    Command(
        "agree-references",
        "agree out/samples.csv examples/agree/summaries/ratings.csv --metric sumaccy "
        "--metric kept_f1 --outputs examples/agree/summaries/outputs.jsonl --at item "
        f"{FEWER}",
    ),
    Command(
        "analyse",
        "study analyse examples/ratings/ratings.csv --screening p808 --draws 40 --no-mixed",
    ),
    Command(
        "analyse-paper",
        "study analyse examples/ratings/ratings.csv --draws 40 --no-mixed --table paper "
        "--interval-form plus-minus --to md",
    ),
    Command(
        "analyse-options",
        "study analyse examples/ratings/ratings.csv --interval two_way_bootstrap --level 0.9 "
        "--correction bh --contrast gentle:noisy --scale OVRL=1:5 --margin OVRL=0.5 --draws 40 "
        "--no-mixed --seed 5 -o out/results.md",
    ),
    Command(
        "analyse-mixed",
        "study analyse examples/ratings/ratings.csv --interval mixed --draws 20 --to csv",
    ),
    Command(
        "analyse-folder",
        "study analyse examples/ratings/ratings.csv --no-mixed --draws 20 -o out/results",
    ),
)

PLACES = sounds("kinds", ("C0", "C1", "ref", "anchor35", "anchor70"), "abcd")
STUDIES = {f"kinds/{kind}.yaml": STUDY.format(kind=kind) for kind in KINDS}
WEBMUSHRA = """\
testname: Codecs
testId: codecs
pages:
    - {type: generic, id: first, name: Welcome, content: "Welcome!<br/>Use <b>headphones</b>."}
    - {type: volume, id: vol, stimulus: audio/a_ref.wav}
    - - random
      - type: mushra
        id: trial_a
        name: Mono
        content: Rate the quality.
        reference: audio/a_ref.wav
        createAnchor35: true
        createAnchor70: true
        stimuli: {C1: audio/a_c1.wav, C2: audio/a_c2.wav}
      - type: mushra
        id: trial_b
        name: Mono
        content: Rate the quality.
        reference: audio/b_ref.wav
        createAnchor35: true
        createAnchor70: true
        stimuli: {C1: audio/b_c1.wav, C2: audio/b_c2.wav}
    - type: finish
      name: Thank you
      questionnaire:
          - {type: text, label: eMail, name: email, optional: true}
          - {type: number, label: Age, name: age}
"""
CODECS = {
    f"web/audio/{item}_{system}.wav": sound(0.2, seed, 44_100)
    for seed, (item, system) in enumerate((i, s) for i in "ab" for s in ("ref", "c1", "c2"))
}

STUDY_CHAIN = (
    *(Command(f"new-{kind}", f"study new {kind}") for kind in (*KINDS, *EXPERTS)),
    Command("check", "study check examples/p835/study.yaml"),
    Command("check-html", "study check examples/p835/study.yaml --minutes 40 --to html"),
    Command("design", "study design kinds/mushra.yaml -o design", {**PLACES, **STUDIES}),
    Command("design-minutes", "study design kinds/p835.yaml --minutes 2 -o designed"),
    Command("power", "study power examples/p835/study.yaml"),
    Command(
        "power-difference",
        "study power kinds/acr.yaml --differences 0.5 --listeners 6,9 "
        "--sd residual=0.5 --power 0.9",
    ),
    Command(
        "links",
        "study links kinds/acr.yaml --db links.db --base https://a.example --listener 1-3",
    ),
    Command("links-back", "study links kinds/acr.yaml --db links.db --take-back 2 --to json"),
    Command("status", "study status kinds/acr.yaml --db links.db"),
    Command(
        "export",
        "study export kinds/acr.yaml --db links.db -o out/answers.jsonl",
        {"out/keep.txt": "here\n"},
    ),
    Command(
        "import",
        "study import web/config.yaml -o web/study --listeners 4",
        {"web/config.yaml": WEBMUSHRA, **CODECS},
    ),
    Command(
        "anchors",
        "study anchors plain/mushra.yaml",
        {
            "plain/mushra.yaml": STUDY.format(kind="mushra"),
            **sounds("plain", ("C0", "C1", "ref"), "abcd", 44_100),
        },
    ),
)

KIND_CHAIN = (
    Command(
        "simulate-p835",
        "study simulate kinds/p835.yaml -o simulated/p835 --population careless=1 "
        "--population fatigue=0.1 --seed 2 --population C0=0.3 --population C1=0.8",
        {**PLACES, **STUDIES, "simulated/keep.txt": "here\n"},
    ),
    *(
        Command(
            f"simulate-{kind}",
            f"study simulate kinds/{kind}.yaml -o simulated/{kind}",
            brief=True,
        )
        for kind in KINDS
        if kind != "p835"
    ),
    *(
        Command(
            f"simulated-{kind}-ratings",
            f"study ratings kinds/{kind}.yaml simulated/{kind}/answers.jsonl --to csv",
        )
        for kind in ("dcr", "ccr", "ab", "mushra")
    ),
    Command("simulated-acr-ratings", "study ratings kinds/acr.yaml simulated/acr/answers.jsonl"),
    Command(
        "simulated-mushra",
        "study analyse kinds/mushra.yaml simulated/mushra/answers.jsonl --screening bs1534 "
        "--draws 40 --no-mixed",
    ),
    Command(
        "simulated-pilot",
        "study power kinds/p835.yaml --pilot simulated/p835/answers.jsonl --scale OVRL",
    ),
)

DRY = "study analyse captions/study.yaml"
RUBRIC = (
    Command("rubric-check", "study check captions/study.yaml", captioned("captions")),
    Command("rubric-design", "study design captions/study.yaml -o captions/design"),
    Command(
        "rubric-simulate",
        "study simulate captions/study.yaml -o captions/dry --population "
        "person=0.9 --population model=0.75",
    ),
    Command("rubric-analyse", f"{DRY} captions/dry/answers.jsonl --draws 40 --no-mixed"),
    Command(
        "rubric-html",
        f"{DRY} captions/dry/answers.jsonl --draws 40 --no-mixed "
        "--blank zero --by dataset -o captions/report.html",
    ),
    Command(
        "workbooks",
        "study export-xlsx captions/study.yaml -o captions/books --listener 1-2 "
        "--web https://example.org/get?name={file}",
    ),
    Command(
        "workbooks-store",
        "study import-xlsx captions/study.yaml captions/back/P1.xlsx captions/back/P2.xlsx "
        "--db captions/study.db",
        {
            "captions/back/P1.xlsx": filled("captions/books/P1_local.xlsx"),
            "captions/back/P2.xlsx": filled(
                "captions/books/P2_web.xlsx", {"K3": "=too long", "J3": "no"}
            ),
        },
    ),
    Command(
        "workbooks-again",
        "study import-xlsx captions/study.yaml captions/back/P1.xlsx --db captions/study.db",
    ),
    Command("rubric-status", "study status captions/study.yaml"),
    Command("rubric-export", "study export captions/study.yaml"),
    Command(
        "rubric-export-all", "study export captions/study.yaml --content all -o captions/all.jsonl"
    ),
    Command("rubric-store", f"{DRY} --db captions/study.db --draws 20 --no-mixed --to json"),
    Command("workbooks-answers", "study import-xlsx captions/study.yaml captions/back/P1.xlsx"),
    Command(
        "workbooks-table",
        "study import-xlsx captions/back/P1.xlsx captions/back/P2.xlsx --key captions/captions.csv "
        "--comments captions/comments.jsonl --blank zero -o captions/ratings.csv",
    ),
    Command(
        "workbooks-analyse",
        "study analyse captions/ratings.csv --rubric thumbs --draws 20 "
        "--no-mixed --by dataset --margin total=0.5",
    ),
    Command(
        "workbooks-original",
        "study import-xlsx P7_google.xlsx",
        {
            "P7_google.xlsx": book(
                ("Roads",),
                HEAD,
                (1, "rec1", "A", "A car.", 4, "3,5", "−.1", 0, 0, "no", None),
                (None, None, "B", "A bus.", " 5 ", "4/5", -1, None, 0, None, "hm"),
            )
        },
    ),
)

TIMETABLE = """\
title: A short day
seed: 3
hour: 10
background: -54
sources:
  brook: {share: 0.5, level: -40}
  wind: {share: {9-18: 0.4}}
  crow: {share: {5-20: 0.1}, seconds: [4, 10]}
  bells: {events: {8-20: 1}, strikes: true}
"""
# codes and prototypes of the codebook depend on the last bit of the sound: tests/models has them
EMBEDDER = "--embedder log-mel"
SMALL = f"--picks 6 --block 2 --overlap 0.5 --period 10 {EMBEDDER} --quiet"
DAY = "site/day_20250722_000000.flac"
PICKS = (
    '{"item": "day", "system": "mine", "output": {"picks": [[10, 2], [100, 2], [200, 2]]}}\n'
    '{"item": "day", "system": "other", "output": {"times": [20, 120, 220], "block": 2}}\n'
)
PICKS_AS_SOUND = '{"item": "day", "system": "s", "output": {"audio": "skim/skim.flac"}}\n'
RECORDINGS = '{"item": "day", "recording": "site/day_20250722_000000.flac", "zone": "UTC"}\n'
SKIMS = (
    "score skims/outputs.jsonl skims/recordings.jsonl --block 2 --period 10 --draws 50 "
    f"{EMBEDDER} --quiet"
)

SKIM = (
    Command("soundscape-preset", "soundscape village -o village.yaml"),
    Command(
        "soundscape",
        f"soundscape short.yaml -o {DAY} --rate 16000 --quiet",
        {"short.yaml": TIMETABLE, "site/keep.txt": "here\n"},
    ),
    Command(
        "soundscape-wav",
        "soundscape short.yaml -o gaps/gap.wav --rate 16000 --hours 6 --seed 5 "
        "--hour-gap 1 --quiet",
        {"gaps/keep.txt": "here\n"},
    ),
    Command(
        "soundscape-mp3", "soundscape short.yaml -o gaps/small.mp3 --rate 16000 --hours 2 --quiet"
    ),
    Command(
        "soundscape-ogg", "soundscape short.yaml -o gaps/small.ogg --rate 16000 --hours 2 --quiet"
    ),
    Command(
        "skim",
        f"skim {DAY} -o skim/skim.flac --z 0.5 --zone UTC {SMALL}",
        {"skim/keep.txt": "here\n"},
    ),
    Command("skim-again", f"skim {DAY} -o skim/skim.flac --z 0.5 --zone UTC {SMALL}"),
    Command(
        "skims",
        f"skim {DAY} -o skims --z 0,0.5,1 --method pareto --method downsampling "
        f"--method random --zone Europe/Paris --without page "
        f"--without picture {SMALL}",
    ),
    Command(
        "skim-manual",
        f"skim {DAY} -o skim/manual.wav --method manual --times times.csv "
        f"--block 2 --overlap 0.5 --period 10 {EMBEDDER} --quiet "
        "--start 2025-07-22T06:00:00+02:00",
        {"times.csv": "start,seconds,turned\n10,2,\n06:01:40,2,yes\n200,2,\n"},
    ),
    Command(
        "skim-gap",
        "skim gaps/gap.wav -o skim/gap.mp3 --hour-gap 1 --start 2025-07-22 --method downsampling "
        "--embedder log-mel --sparse --length 8 --block 2 --overlap 0.5 --period 10 --quiet",
    ),
    Command(
        "skim-speech",
        f"skim {DAY} -o skim/speech.ogg --speech avoid --detector cues --without raven "
        f"--without page {SMALL}",
    ),
    Command(
        "skim-by-day",
        f"skim site -o days --by-day --zone UTC --to opus --without picture --without page {SMALL}",
    ),
    Command("skims-score", SKIMS),
    Command("skims-compare", SKIMS.replace("score", "compare", 1) + " --permutations 50"),
    Command(
        "skims-baselines",
        f"score picks.jsonl recordings.jsonl --block 2 --period 10 --draws 50 {EMBEDDER} "
        "--quiet --baseline random --baseline downsampling --baseline calibration_tc "
        "--baseline calibration_sd --samples skim/samples.csv",
        {"picks.jsonl": PICKS, "recordings.jsonl": RECORDINGS},
    ),
    Command(
        "skims-sound",
        f"score sound.jsonl recordings.jsonl --block 2 --period 10 {EMBEDDER} --quiet",
        {"sound.jsonl": PICKS_AS_SOUND},
    ),
)

CHAINS: dict[str, tuple[Command, ...]] = {
    "help": HELP,
    "score": SCORE,
    "summaries": SUMMARIES,
    "models": MODELS,
    "agree": AGREE,
    "study": STUDY_CHAIN,
    "kinds": KIND_CHAIN,
    "rubric": RUBRIC,
    "skim": SKIM,
    "bad_inputs": BAD_INPUTS,
}
