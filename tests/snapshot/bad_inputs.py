"""Bad inputs, each of which must be refused with exit code 2 and words that help."""

from __future__ import annotations

from snapshot.inputs import HEAD, STUDY, book, captioned, sound, sounds, with_entities
from snapshot.runner import Command

GOOD = '{"hypothesis": [10], "reference": [11], "duration": 60}\n'
OUTPUT = '{"item": "a", "system": "s", "output": {"boundaries": [10]}}\n'
REFERENCE = '{"item": "a", "duration": 60, "references": [{"boundaries": [11]}]}\n'
SAID = '{"item": "a", "transcript": "one two three", "references": [{"positions": [1, 3]}]}\n'
KEPT = '{"item": "a", "system": "s", "output": {"positions": [3, 1, 9]}}\n'
RATINGS = "item,system,listener,scale,value\na,s,1,MOS,4\na,t,1,MOS,3\nb,s,2,MOS,5\nb,t,2,MOS,1\n"
CLIPS = sounds("bad", ("C0", "C1", "ref"), "abcd")
ACR = STUDY.format(kind="acr")
ROW = (1, "rec1", "A", "A car.", 4, 3, 0, 0, 0, "no", None)
SCORES = "item,system,near\na,s,0.5\na,t,0.2\nb,s,0.7\nb,t,0.1\n"

SCORE = (
    Command("bad-verb", "scroe samples.jsonl"),
    Command("bad-option", "score samples.jsonl --colar 3"),
    Command("bad-argument-missing", "score"),
    Command("bad-file-missing", "score nowhere.jsonl"),
    Command("bad-number", "score good.jsonl --collar wide", {"good.jsonl": GOOD}),
    Command("bad-metric", "score good.jsonl --metric chunk"),
    Command("bad-parameter", "score good.jsonl --chunk-size 0"),
    Command("bad-form", "score good.jsonl --to pdf"),
    Command("bad-ending", "score good.jsonl -o result.pdf"),
    Command("bad-jobs", "score good.jsonl --jobs 0"),
    Command("bad-pattern", "score good.jsonl --preset custom_ts --custom-pattern '('"),
    Command("bad-group", "score good.jsonl --by kind"),
    Command("bad-baseline", "score good.jsonl --baseline lead"),
    Command("bad-show", "score good.jsonl --show nobody"),
    Command("bad-draws", "score good.jsonl --draws 0"),
    Command(
        "bad-value",
        "compare o.jsonl r.jsonl --value colar_f1",
        {
            "o.jsonl": OUTPUT + OUTPUT.replace('"s"', '"t"'),
            "r.jsonl": REFERENCE,
        },
    ),
    Command("bad-json", "score broken.jsonl", {"broken.jsonl": GOOD + "{\n[1]\n\n" + GOOD[:20]}),
    Command(
        "bad-fields",
        "score -",
        typed='{"hypothesis": ["1:30"], "refrence": [], "duration": 60}\n'
        '{"id": "x y ", "hypothesis": [1], "reference": null, "duration": -5, "meta": 3}\n',
    ),
    Command("bad-bytes", "score bytes.jsonl", {"bytes.jsonl": b"\xff\xfe\x00" + GOOD.encode()}),
    Command("bad-gzip", "score cut.jsonl.gz", {"cut.jsonl.gz": b"\x1f\x8b\x08\x00broken"}),
    Command("bad-nothing", "score empty.jsonl", {"empty.jsonl": "\n\n"}),
    Command(
        "bad-joined",
        "score out.jsonl ref.jsonl",
        {
            "out.jsonl": OUTPUT + OUTPUT + OUTPUT.replace('"a"', '"b"') + '{"system": "t"}\n',
            "ref.jsonl": REFERENCE + REFERENCE.replace('"a"', '"c"') + '{"item": "d"}\n',
        },
    ),
    Command(
        "bad-positions", "score kept.jsonl said.jsonl", {"kept.jsonl": KEPT, "said.jsonl": SAID}
    ),
    Command("bad-task", "score kept.jsonl said.jsonl --metric collar"),
    Command(
        "bad-preset",
        "score titles.jsonl",
        {
            "titles.jsonl": '{"hypothesis": "# Hello", "reference": [1], "duration": 9, '
            '"format": "markdwon"}\n'
        },
    ),
    Command("bad-chunkseg", "chunkseg broken.jsonl --num-bootstrap 0"),
    Command(
        "bad-chunkseg-line",
        "chunkseg line.jsonl",
        {"line.jsonl": GOOD + '{"hypothesis": ["1:30"], "duration": 60}\n'},
    ),
    Command("bad-gather", "gather talk.txt --durations none.csv", {"talk.txt": "0:00 Hello\n"}),
    Command("bad-subtitles", "gather talk.srt", {"talk.srt": "1\n00:00:xx --> 3\nHello\n"}),
    Command("bad-network", "network said.jsonl nobody"),
    Command("bad-people", "people r.jsonl"),
)

STUDIES = (
    Command("bad-study-verb", "study chekc x.yaml"),
    Command(
        "bad-study-keys",
        "study check bad/keys.yaml",
        {
            **CLIPS,
            "bad/keys.yaml": ACR.replace("listeners: 6", "listners: 6\nseed: soon")
            + "    sesions: 2\n",
        },
    ),
    Command("bad-study-yaml", "study check bad/broken.yaml", {"bad/broken.yaml": "title: [x\n"}),
    Command(
        "bad-study-kind", "study check bad/kind.yaml", {"bad/kind.yaml": STUDY.format(kind="p385")}
    ),
    Command(
        "bad-study-clips",
        "study check bad/many.yaml",
        {"bad/many.yaml": ACR.replace("clips: 3", "clips: 30")},
    ),
    Command(
        "bad-study-sounds",
        "study check bad/sounds.yaml",
        {"bad/sounds.yaml": ACR.replace("[C0, C1]", "[C0, C7]")},
    ),
    Command(
        "bad-study-contradiction",
        "study check bad/contrary.yaml",
        {
            "bad/contrary.yaml": ACR + "panels: 5\njuries: {experts: 2, lay: 2}\nanalysis:\n"
            "  contrasts: [[C0, C9]]\n  scales: [LOUD]\n"
        },
    ),
    Command(
        "bad-study-captions",
        "study check captions/study.yaml",
        {
            **captioned("captions"),
            "captions/captions.csv": "item,system,caption\nc0,person,One.\nc0,person,Two.\n"
            "c9,model,X\n",
        },
    ),
    Command("bad-design-folder", "study design bad/good.yaml -o bad", {"bad/good.yaml": ACR}),
    Command(
        "bad-answers",
        "study ratings bad/good.yaml bad/answers.jsonl",
        {"bad/answers.jsonl": '{"study": "x", "listener": 1, "page": "1.1", "values": {}}\n{"x\n'},
    ),
    Command("bad-anchors", "study anchors bad/good.yaml"),
    Command(
        "bad-import",
        "study import web.yaml -o web",
        {
            "web.yaml": "testname: x\npages:\n"
            "  - {type: mushra, id: a, reference: no.wav, stimuli: {}}\n"
        },
    ),
    Command(
        "bad-simulate",
        "study simulate bad/good.yaml -o bad/sim --population C8=0.5 --population bias=-1",
    ),
    Command("bad-power", "study power bad/good.yaml --sd listner=1 --power 2"),
    Command(
        "bad-links", "study links bad/good.yaml --db text.db", {"text.db": "no database\n" * 9}
    ),
    Command("bad-status", "study status bad/good.yaml --db none.db"),
    Command("bad-serve", "serve bad/none.yaml"),
    Command("bad-serve-port", "serve bad/good.yaml --port 99999"),
    Command(
        "bad-ratings",
        "study analyse ratings.csv",
        {"ratings.csv": RATINGS.replace(",5", ",five").replace("a,t,1", "a,,1") + 'c,s,1,"MOS,3\n'},
    ),
    Command(
        "bad-ratings-columns",
        "study analyse columns.csv",
        {"columns.csv": RATINGS.replace("listener", "listner")},
    ),
    Command("bad-ratings-scale", "study analyse fine.csv --scale MOS=1:4", {"fine.csv": RATINGS}),
    Command("bad-ratings-contrast", "study analyse fine.csv --contrast s:z"),
    Command("bad-ratings-files", "study analyse bad/good.yaml"),
    Command("bad-agree-swapped", "agree fine.csv scores.csv", {"scores.csv": SCORES}),
    Command("bad-agree-metric", "agree scores.csv fine.csv --metric nera"),
    Command(
        "bad-agree-join", "agree other.csv fine.csv", {"other.csv": "item,system,near\nz,y,1\n"}
    ),
    Command(
        "bad-workbook",
        "study import-xlsx P1.xlsx",
        {"P1.xlsx": book(ROW, (None, None, "B", "A bus.", 9, "x", "=1+1", 0.05, 2, None, None))},
    ),
    Command(
        "bad-workbook-columns",
        "study import-xlsx P2.xlsx",
        {"P2.xlsx": book(ROW[:7], head=HEAD[:7])},
    ),
    Command(
        "bad-workbook-entities", "study import-xlsx P3.xlsx", {"P3.xlsx": with_entities(book(ROW))}
    ),
    Command("bad-workbook-zip", "study import-xlsx P4.xlsx", {"P4.xlsx": b"PK\x03\x04 broken"}),
    Command("bad-workbook-text", "study import-xlsx P5.xlsx", {"P5.xlsx": "a,b\n1,2\n"}),
    Command("bad-workbook-kind", "study export-xlsx bad/good.yaml -o books"),
)

SKIMS = (
    Command("bad-skim-missing", "skim none.wav -o skim.flac"),
    Command(
        "bad-skim-sound", "skim noise.wav -o skim.flac --quiet", {"noise.wav": b"no sound" * 99}
    ),
    Command("bad-skim-short", "skim short.wav -o skim.flac --quiet", {"short.wav": sound(2.0)}),
    Command("bad-skim-z", "skim short.wav -o skim.flac --z 2"),
    Command("bad-skim-zone", "skim short.wav -o skim.flac --zone Europe/Pari"),
    Command("bad-skim-ending", "skim short.wav -o skim.xyz"),
    Command("bad-skim-manual", "skim short.wav -o skim.flac --method manual"),
    Command(
        "bad-skim-rates",
        "skim mixed -o skim.flac --quiet",
        {
            "mixed/20250722_000000.wav": sound(2.0),
            "mixed/20250722_000002.wav": sound(2.0, 1, 16_000),
        },
    ),
    Command(
        "bad-skim-picks",
        "score picks.jsonl days.jsonl",
        {
            "picks.jsonl": '{"item": "d", "system": "s", "output": {"picks": [[1], ["x", 2]]}}\n',
            "days.jsonl": '{"item": "d", "recording": "none.wav"}\n',
        },
    ),
    Command(
        "bad-timetable",
        "soundscape bad.yaml -o day.flac",
        {"bad.yaml": "title: x\nhour: 0\nsources:\n  broook: {share: 2}\n  wind: {sahre: 1}\n"},
    ),
    Command("bad-soundscape", "soundscape vilage -o day.flac"),
)

BAD_INPUTS = (*SCORE, *STUDIES, *SKIMS)
