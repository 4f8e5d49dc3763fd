"""Check a release: build it, install it with each extra alone, and use what was installed.

``make release-check`` runs this in a clone. Everything is written to a temporary folder. It needs
git, and a package index as configured for pip. Each check prints one line; the exit status is 1 if
a check failed.
"""

from __future__ import annotations

import argparse
import datetime
import email.parser
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import wave
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
PACKAGE = "earwitness"
TOOLS = ("build", "twine>=6.1")
CITATION_TOOL = "cffconvert"
Arguments = Sequence[str | Path]
COMMAND_SECONDS = 1800  # time limit of a command; an installation may take long


# --- Documents: version, date and form -----------------------------------------------------------


RELEASE_HEADING = re.compile(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2}|unreleased)")
CHANGE_KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def source_version(root: Path) -> str:
    """Return the version, which is written in one file only."""
    text = (root / "src" / PACKAGE / "version.py").read_text(encoding="utf-8")
    return str(re.findall(r'^__version__ = "(.+)"$', text, re.M)[0])


def changelog_faults(text: str, version: str) -> list[str]:
    """Return how a changelog departs from Keep a Changelog, and from the version.

    The newest section is that of the version, with its date or the word "unreleased".
    """
    faults = [] if text.startswith("# Changelog\n") else ["the title is not # Changelog"]
    _, *sections = re.split(r"^## ", text, flags=re.M)
    releases = []
    for section in sections:
        heading, _, body = section.partition("\n")
        match = RELEASE_HEADING.fullmatch(heading)
        if not match:
            faults.append(f"the heading is not [VERSION] - DATE: {heading}")
            continue
        releases.append(match.groups())
        faults += [f"{match[1]}: {fault}" for fault in _section_faults(body)]
    numbers = [tuple(map(int, number.split("."))) for number, _ in releases]
    if numbers != sorted({*numbers}, reverse=True):
        faults.append("versions are not in descending order")
    if not releases or releases[0][0] != version:
        faults.append(f"the first section is not that of version {version}")
    for number, date in releases:
        if date == "unreleased":
            faults += [f"{number}: only the newest version may be unreleased"] * (
                number != releases[0][0]
            )
        elif not _is_date(date):
            faults.append(f"{number}: {date} is not a date")
    return faults


def _section_faults(body: str) -> list[str]:
    """Return faults of the section of one version: its kinds of changes, and their entries."""
    before, *parts = re.split(r"^### ", body, flags=re.M)
    kinds = [part.partition("\n")[0] for part in parts]
    faults = [f"unknown kind of change: {kind}" for kind in kinds if kind not in CHANGE_KINDS]
    if len({*kinds}) < len(kinds):
        faults.append("a kind of change has two headings")
    if re.search(r"^- ", before, re.M) or not kinds:
        faults.append("changes stand under no kind (Added, Changed, …)")
    return faults + [f"{part.strip()}: no entry" for part in parts if "\n- " not in part]


def _is_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def release_faults(root: Path, tags: Sequence[str] = ()) -> list[str]:
    """Return where documents disagree on the version or on the date of the release.

    A version with a date in the changelog has the same date in CITATION.cff; an unreleased version
    has none. A commit with a version tag must have that version and a date.
    """
    version = source_version(root)
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    faults = [f"CHANGELOG.md: {fault}" for fault in changelog_faults(changelog, version)]
    heading = re.search(rf"^## \[{re.escape(version)}\] - (\S+)$", changelog, re.M)
    date = heading[1] if heading and heading[1] != "unreleased" else ""
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    cited = dict(re.findall(r"^([\w-]+): *[\"']?([^\"'\n]*)", citation, re.M))
    if cited.get("version") != version:
        faults.append(f"CITATION.cff: version is not {version}")
    if cited.get("date-released", "") != date:
        rule = f"is not {date}" if date else "is given, but the changelog says unreleased"
        faults.append(f"CITATION.cff: date-released {rule}")
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        shown = {*re.findall(r"earwitness=(\d+\.\d+\.\d+)", path.read_text(encoding="utf-8"))}
        faults += [f"{path.relative_to(root)}: shows version {one}" for one in shown - {version}]
    for tag in tags:
        if re.fullmatch(r"v\d.*", tag) and (tag != f"v{version}" or not date):
            faults.append(f"tag {tag}: version.py has {version}, CHANGELOG.md {date or 'no date'}")
    return faults


# --- Archives ------------------------------------------------------------------------------------


def archive_digests(path: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a wheel or sdist, without the folder of an sdist."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {name: hashlib.sha256(wheel.read(name)).hexdigest() for name in wheel.namelist()}
    digests = {}
    with tarfile.open(path) as sdist:
        for member in sdist:
            file = sdist.extractfile(member)
            if file:
                name = member.name.partition("/")[2]
                digests[name] = hashlib.sha256(file.read()).hexdigest()
    return digests


def sdist_files(tracked: Sequence[str]) -> set[str]:
    """Return what an sdist has to contain: every tracked file, and the metadata."""
    return {*tracked, "PKG-INFO"}


def wheel_files(tracked: Sequence[str], version: str) -> set[str]:
    """Return what a wheel has to contain: every tracked file of the package, and the metadata."""
    source = "src/"
    files = {name.removeprefix(source) for name in tracked if name.startswith(source)}
    metadata = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    return files | {f"{PACKAGE}-{version}.dist-info/{name}" for name in metadata}


def difference(found: set[str], wanted: set[str]) -> str:
    """Return what is missing from a set of names, and what is too much.

    >>> difference({"a", "c"}, {"a", "b"})
    'missing: b; unexpected: c'
    """
    parts = {"missing": wanted - found, "unexpected": found - wanted}
    return "; ".join(f"{kind}: {_listed(names)}" for kind, names in parts.items() if names)


def _listed(names: set[str], most: int = 8) -> str:
    shown = sorted(names)[:most]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def metadata_fault(wheel: Path, project: Mapping[str, object], version: str) -> str:
    """Return how the metadata of a wheel differ from pyproject.toml, or an empty string."""
    with zipfile.ZipFile(wheel) as file:
        text = file.read(f"{PACKAGE}-{version}.dist-info/METADATA").decode()
    metadata = email.parser.Parser().parsestr(text)
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    wanted = {
        "Name": [PACKAGE],
        "Version": [version],
        "Summary": [project["description"]],
        "License-Expression": [project["license"]],
        "License-File": ["LICENSE"],
        "Requires-Python": [project["requires-python"]],
        "Description-Content-Type": ["text/markdown"],
        "Provides-Extra": sorted(extras),
        "Classifier": project["classifiers"],
    }
    found = {name: metadata.get_all(name, []) for name in wanted}
    found["Provides-Extra"].sort()
    return "; ".join(
        f"{name} is {found[name]}, not {values}"
        for name, values in wanted.items()
        if found[name] != values
    )


# --- Commands ------------------------------------------------------------------------------------


def clean_variables(folder: Path) -> dict[str, str]:
    """Return environment variables without those that let Python see other packages."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON") and name != "VIRTUAL_ENV"
    }
    return kept | {"EARWITNESS_CACHE": str(folder / "cache")}


def run(arguments: Arguments, folder: Path) -> tuple[int, str, str]:
    """Run a command in a folder; return its exit status, what it printed, and its messages."""
    try:
        done = subprocess.run(
            [str(argument) for argument in arguments],
            cwd=folder,
            env=clean_variables(folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, "", str(error)
    return done.returncode, done.stdout, done.stderr


def command_fault(arguments: Arguments, folder: Path) -> str:
    """Run a command that must succeed; return the end of its messages if it does not."""
    status, printed, messages = run(arguments, folder)
    if status == 0:
        return ""
    lines = [line for line in (printed + messages).splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return f"exit status {status}: {' / '.join((errors or lines)[-3:])}"


def git(*arguments: str) -> list[str]:
    """Return the lines that a git command prints about the clone."""
    command = ["git", "-c", "core.quotepath=off", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


# --- Environments --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and the folder in which its commands run."""

    folder: Path
    work: Path

    @property
    def python(self) -> Path:
        """Path of the interpreter."""
        return self.folder / "bin" / "python"

    @property
    def program(self) -> Path:
        """Path of the command earwitness."""
        return self.folder / "bin" / PACKAGE

    def earwitness(self, arguments: str) -> tuple[int, str, str]:
        """Run the command; return its exit status, what it printed, and its messages."""
        return run([self.program, *arguments.split()], self.work)

    def use(self, feature: Feature) -> tuple[int, str, str]:
        """Run the command of a feature, or its script."""
        if feature.command.startswith("python "):
            return run([self.python, *feature.command.split()[1:]], self.work)
        return self.earwitness(feature.command)


def make_environment(folder: Path, pip: Path | None, *installs: Sequence[str]) -> str:
    """Create an environment and install into it, one step after the other; return what failed.

    Without the path of an interpreter that has pip, the environment gets pip itself.
    """
    create: Arguments = [sys.executable, "-m", "venv", *["--without-pip"] * bool(pip), folder]
    fault = command_fault(create, folder.parent)
    target = folder / "bin" / "python"
    program: Arguments = [
        pip or target,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        target,
    ]
    for requirements in installs:
        install: Arguments = [*program, "install", "--quiet", "--no-compile", *requirements]
        fault = fault or command_fault(install, folder.parent)
    return fault or command_fault([*program, "check"], folder.parent)


# --- What each extra is for ----------------------------------------------------------------------


@dataclass(frozen=True)
class Feature:
    """A command that needs an extra.

    Parameters
    ----------
    command
        Arguments of earwitness, or ``python`` with a script and its arguments; runs in a folder
        with the files of ``write_examples``.
    prints
        Regular expression that is found in the output if the extra is installed.
    status
        Exit status if the extra is installed. A model or a server that does not exist is an
        error, but its message shows that the library of the extra was loaded.
    needs
        Extra without which the command would fail before it gets to this one.
    """

    command: str
    prints: str
    status: int = 0
    needs: str = ""


SKIM = "--period 15 --block 4 --overlap 1 --quiet"
SCORE = "score outputs.jsonl references.jsonl"
FRAME_SCRIPT = """\
import sys

import earwitness as ew
from earwitness.errors import MissingExtra

try:
    scores = ew.score("outputs.jsonl", "references.jsonl")
    print(type(getattr(scores, f"to_{sys.argv[1]}")()).__name__)
except MissingExtra as error:
    sys.exit(str(error))
"""
MMS_SCRIPT = """\
import sys
from pathlib import Path

from earwitness.errors import EarwitnessError
from earwitness.speech.mms import MmsAligner

try:
    MmsAligner(Path("broken.pt")).align(Path("day.wav"), ["hello"], "eng")
except EarwitnessError as error:
    sys.exit(str(error))
"""
FEATURES = {
    "audio": (
        Feature(f"skim day.wav -o out/day.mp3 --picks 4 {SKIM}", r"tc ↑"),
        Feature(f"skim out/day.mp3 -o out/short.flac --picks 2 {SKIM}", r"tc ↑"),
    ),
    "bert": (Feature("score said.jsonl heard.jsonl --metric bertscore", r"bertscore\S* ↑"),),
    "figures": (Feature(f"{SCORE} --figures out/figures", r"wrote [1-9]\d* files"),),
    "ja": (Feature("score said.jsonl heard.jsonl --tokenize japanese", r"janome=\d+\.\d+"),),
    "mms": (Feature("python mms.py", r"broken\.pt: does not contain the weights", status=1),),
    "pandas": (Feature("python frame.py pandas", r"DataFrame"),),
    "polars": (Feature("python frame.py polars", r"DataFrame"),),
    "postgresql": (
        Feature(
            "study status listen/study.yaml --db postgresql://127.0.0.1:9/none",
            r"(?i)connection .*(refused|failed)",
            status=2,
            needs="serve",
        ),
    ),
    "serve": (Feature("study links listen/study.yaml --base http://127.0.0.1", r"/l/\w+"),),
    "pdf": (Feature("study sheets planes/study.yaml -o out/sheets.pdf", r"wrote .*: 2 planes"),),
    "silero": (
        Feature(
            f"skim day.wav -o out/silero.wav {SKIM} --speech avoid --detector broken.onnx",
            r"broken\.onnx: is not an ONNX model",
            status=2,
            needs="audio",
        ),
    ),
    "speech": (Feature("transcribe day.wav", r'"segments"', needs="audio"),),
    "summarizer": (
        Feature(
            "summarize utterances.txt",
            r"language model: \d+\.\d% unknown words",
        ),
    ),
    "xlsx": (Feature("study export-xlsx captions/study.yaml -o out/books", r"wrote 2 workbooks"),),
    "yamnet": (
        Feature(
            f"skim day.wav -o out/yamnet.wav {SKIM} --embedder broken.tflite",
            r"broken\.tflite: is not a TensorFlow Lite model",
            status=2,
            needs="audio",
        ),
    ),
    "zstd": (Feature("score samples.jsonl.zst --metric collar", r"collar_f1 ↑"),),
}
WITHOUT_EXTRAS = (  # the three workflows, on the examples
    Feature("--version", r"\d+\.\d+\.\d+"),
    Feature(SCORE, r"signature: earwitness="),
    Feature(f"{SCORE} --to json", r'"signature"'),
    Feature(f"{SCORE} --to html", r"(?s)<style>.*<script"),
    Feature("study check listen/study.yaml", r"listening"),
    Feature(
        "agree agree/scores.csv agree/ratings.csv --scale OVRL --low-is-good noise_left", r"Kendall"
    ),
    Feature("soundscape village -o own.yaml", r""),
)


def feature_fault(environment: Environment, feature: Feature) -> str:
    """Use a feature whose extra is installed; return what is wrong."""
    status, printed, messages = environment.use(feature)
    said = printed + messages
    if "Traceback" in said or status != feature.status or not re.search(feature.prints, said):
        return f"exit status {status}: {' / '.join(said.strip().splitlines()[-3:])}"
    return ""


def absence_fault(environment: Environment, extra: str, feature: Feature) -> str:
    """Use a feature whose extra is not installed; return what is wrong with the message."""
    status, printed, messages = environment.use(feature)
    wanted = f'pip install "{PACKAGE}[{extra}]"'
    if status == 0 or wanted not in messages or "Traceback" in printed + messages:
        shown = " / ".join(messages.strip().splitlines()[-3:])
        return f"no message with {wanted}, but exit status {status}: {shown}"
    return ""


def server_fault(environment: Environment) -> str:
    """Serve a study on loopback; load its front page, a listener's page and its script."""
    study = "listen/study.yaml"
    _, links, _ = environment.earwitness(f"study links {study} --base http://127.0.0.1")
    server = subprocess.Popen(
        [str(environment.program), "serve", study, "--port", "0"],
        cwd=environment.work,
        env=clean_variables(environment.work),
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert server.stderr
    try:
        started = server.stderr.readline()
        address = re.search(r"http://[\d.:]+", started)
        path = re.search(r"/l/[\w-]+", links)
        if not address or not path:
            return f"no address or no link: {started}{links}"
        front, page = (_load(address[0] + one) for one in ("/", path[0]))
        script = re.search(r"/static/\w+/listen\.js", page)
        if "<html" not in front or not script:
            return "a page is incomplete"
        return "" if "import" in _load(address[0] + script[0]) else "listen.js is incomplete"
    except OSError as error:
        return str(error)
    finally:
        server.terminate()
        server.wait(timeout=30)


def _load(address: str) -> str:
    with urlopen(address, timeout=30) as response:
        return str(response.read().decode())


# --- Files for these commands --------------------------------------------------------------------


CAPTION_STUDY = """\
title: Captions
systems: [person, model]
files: "clips/{item}.wav"
material: clips.csv
captions: captions.csv
listeners: 2
blocks:
  - kind: rubric
"""

PLANE_STUDY = """\
title: Skims
systems: [a, b]
files: "{system}/{item}.wav"
material: clips.csv
listeners: 2
blocks:
  - kind: plane
    clips: 1
"""


def write_examples(folder: Path, sdist: Path) -> None:
    """Write the files that features use, mostly from the examples of the unpacked sdist."""
    examples = sdist / "examples"
    (folder / "out").mkdir(parents=True)
    for name in ("outputs", "references", "samples"):
        (folder / f"{name}.jsonl").write_bytes((examples / f"chapters/{name}.jsonl").read_bytes())
    (folder / "frame.py").write_text(FRAME_SCRIPT, encoding="utf-8")
    (folder / "mms.py").write_text(MMS_SCRIPT, encoding="utf-8")
    samples = (folder / "samples.jsonl").read_bytes()
    (folder / "samples.jsonl.zst").write_bytes(zstd_frame(samples))
    (folder / "agree").mkdir()
    for name in ("scores.csv", "ratings.csv"):
        (folder / "agree" / name).write_bytes((examples / "agree/p835" / name).read_bytes())
    (folder / "utterances.txt").write_text("the rain fell on the old town\n", encoding="utf-8")
    text = "桜は春に咲く"
    said = {"item": "cherry", "system": "a", "output": {"text": text}}
    heard = {"item": "cherry", "transcript": text, "references": [{"text": text}]}
    for name, line in {"said": said, "heard": heard}.items():
        (folder / f"{name}.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    for name in ("broken.onnx", "broken.pt", "broken.tflite"):
        (folder / name).write_bytes(b"no model")
    write_noise(folder / "day.wav", seconds=60)
    captions, clips = ["item,system,caption"], ["name"]
    for number in range(4):
        write_noise(folder / "captions" / "clips" / f"c{number}.wav", seconds=1)
        clips.append(f"c{number}")
        captions += [f"c{number},{who},Noise {number} by {who}." for who in ("person", "model")]
    for name, lines in {"clips": clips, "captions": captions}.items():
        path = folder / "captions" / f"{name}.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "captions" / "study.yaml").write_text(CAPTION_STUDY, encoding="utf-8")
    for system in "ab":
        write_noise(folder / "planes" / system / "day.wav", seconds=1)
    (folder / "planes" / "clips.csv").write_text("name\nday\n", encoding="utf-8")
    (folder / "planes" / "study.yaml").write_text(PLANE_STUDY, encoding="utf-8")


def write_noise(path: Path, seconds: int, rate: int = 8000) -> None:
    """Write a WAV file with noise whose level changes every second."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = random.Random(0)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        for _ in range(seconds):
            level = rng.randrange(100, 10_000)
            samples = (rng.randrange(-level, level) for _ in range(rate))
            file.writeframes(b"".join(n.to_bytes(2, "little", signed=True) for n in samples))


def zstd_frame(content: bytes) -> bytes:
    """Return a zstd file without compression, written without a library (RFC 8878).

    >>> zstd_frame(b"hello").hex(" ", -4)
    '28b52ffd a0050000 00290000 68656c6c 6f'
    """
    largest = 1 << 17  # of a block
    frame = b"\x28\xb5\x2f\xfd\xa0" + len(content).to_bytes(4, "little")
    for start in range(0, len(content), largest):
        block = content[start : start + largest]
        is_last = start + largest >= len(content)
        frame += (len(block) << 3 | is_last).to_bytes(3, "little") + block
    return frame


# --- The whole check -----------------------------------------------------------------------------


class Checklist:
    """Prints one line per check, and counts."""

    def __init__(self) -> None:
        self.checks = self.failed = 0

    def record(self, name: str, fault: str = "") -> bool:
        """Record a check that is met, or failed with a fault; return whether it is met."""
        self.checks += 1
        self.failed += bool(fault)
        print(f"FAILED  {name}: {fault}" if fault else f"met     {name}", flush=True)
        return not fault


def check_archives(checks: Checklist, folder: Path, project: Mapping[str, object]) -> Path | None:
    """Build and check sdist and wheel; return the wheel if there is one."""
    tools, version, tracked = folder / "tools", source_version(ROOT), git("ls-files")
    with (ROOT / "pyproject.toml").open("rb") as file:
        backend = tomllib.load(file)["build-system"]["requires"]
    fault = make_environment(tools, None, [*TOOLS, *backend])
    if not checks.record("build and twine can be installed", fault):
        return None
    python = tools / "bin" / "python"
    build: Arguments = [python, "-m", "build", "--no-isolation"]
    built, rebuilt = folder / "built", folder / "rebuilt"
    fault = command_fault([*build, "--sdist", "--wheel", "--outdir", built, ROOT], folder)
    if not checks.record("sdist and wheel are built from the clone", fault):
        return None
    sdist = built / f"{PACKAGE}-{version}.tar.gz"
    wheel = built / f"{PACKAGE}-{version}-py3-none-any.whl"
    found = archive_digests(sdist)
    checks.record(
        f"the sdist has all {len(tracked)} tracked files, and nothing else",
        difference({*found}, sdist_files(tracked)),
    )
    wanted = wheel_files(tracked, version)
    checks.record(
        f"the wheel has all {len(wanted)} files of the package, and nothing else",
        difference({*archive_digests(wheel)}, wanted),
    )
    with tarfile.open(sdist) as file:
        file.extractall(folder, filter="data")
    unpacked = folder / f"{PACKAGE}-{version}"
    fault = command_fault([*build, "--wheel", "--outdir", rebuilt, unpacked], folder)
    if checks.record("a wheel is built from the sdist", fault):
        one, other = (dict(archive_digests(path)) for path in (wheel, rebuilt / wheel.name))
        changed = {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
        checks.record("both wheels are the same", f"differ: {_listed(changed)}" * bool(changed))
    checks.record("metadata are those of pyproject.toml", metadata_fault(wheel, project, version))
    fault = command_fault([python, "-m", "twine", "check", "--strict", sdist, wheel], folder)
    checks.record("twine accepts metadata and README", fault)
    return wheel


def check_citation(checks: Checklist, folder: Path) -> None:
    """Validate CITATION.cff by the schema of its format."""
    tools = folder / "citation"
    if checks.record(
        f"{CITATION_TOOL} can be installed",
        make_environment(tools, folder / "tools" / "bin" / "python", [CITATION_TOOL]),
    ):
        validate: Arguments = [
            tools / "bin" / CITATION_TOOL,
            "--validate",
            "-i",
            ROOT / "CITATION.cff",
        ]
        checks.record("CITATION.cff is valid", command_fault(validate, folder))


def check_program(checks: Checklist, environment: Environment, sdist: Path) -> None:
    """Use the program without extras."""
    fault = command_fault(
        [environment.python, sdist / "examples/listen/make.py", "listen"], environment.work
    )
    checks.record("no extra: the example study is written", fault)
    for feature in WITHOUT_EXTRAS:
        fault = feature_fault(environment, feature)
        checks.record(f"no extra: earwitness {feature.command}", fault)


def check_extra(checks: Checklist, environment: Environment, extra: str) -> None:
    """Use what one extra is for."""
    for feature in FEATURES.get(extra, ()):
        fault = feature_fault(environment, feature)
        checks.record(f"{extra}: earwitness {feature.command}", fault)
    if extra == "serve":
        checks.record("serve: earwitness serve listen/study.yaml", server_fault(environment))


def check_absence(
    checks: Checklist, environment: Environment, installed: str, extras: Sequence[str]
) -> None:
    """Use features of extras that are not installed."""
    for extra in extras:
        feature = FEATURES[extra][0]
        if feature.needs == installed:
            fault = absence_fault(environment, extra, feature)
            name = f"{installed or 'no extra'}: without {extra}, a message names the command"
            checks.record(name, fault)


def check_release(folder: Path, torch: str, only: Sequence[str], keep: Path | None) -> int:
    """Run all checks in a folder; return the number of those that failed.

    If none failed, the archives are copied to the folder ``keep``.
    """
    checks, started = Checklist(), time.monotonic()
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    extras = [name for name in sorted(project["optional-dependencies"]) if name in FEATURES]
    checks.record(
        "every extra has a check",
        difference({*extras}, {*project["optional-dependencies"]}),
    )
    faults = release_faults(ROOT, git("tag", "--points-at", "HEAD"))
    checks.record("documents agree on version and date", "; ".join(faults))
    wheel = check_archives(checks, folder, project)
    if wheel:
        check_citation(checks, folder)
        sdist, work = folder / f"{PACKAGE}-{source_version(ROOT)}", folder / "work"
        write_examples(work, sdist)
        for extra in ["", *(only or extras)]:
            place = Environment(folder / f"with-{extra}", work)
            first = [[torch]] if extra in ("bert", "mms") and torch else []
            requirement = f"{wheel}[{extra}]" if extra else str(wheel)
            pip = folder / "tools" / "bin" / "python"
            fault = make_environment(place.folder, pip, *first, [requirement])
            if not checks.record(f"{extra or 'no extra'}: installs alone", fault):
                continue
            if extra:
                check_extra(checks, place, extra)
            else:
                check_program(checks, place, sdist)
            check_absence(checks, place, extra, extras)
        if keep and not checks.failed:
            shutil.copytree(wheel.parent, keep, dirs_exist_ok=True)
    seconds = time.monotonic() - started
    print(f"{checks.checks - checks.failed} of {checks.checks} checks met, {seconds:.0f} s")
    return checks.failed


def main() -> int:
    """Read options and run all checks in a temporary folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch", default="", help="Requirement installed before bert and mms.")
    parser.add_argument("--extra", action="append", help="Only this extra (repeatable).")
    parser.add_argument("--keep", type=Path, help="Folder for both archives if nothing failed.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="release-check-") as folder:
        how = (options.torch, options.extra, options.keep)
        return int(check_release(Path(folder).resolve(), *how) > 0)


if __name__ == "__main__":
    sys.exit(main())
