"""Checks for contradictions between the keys of a study file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from earwitness.analysis.plan import (
    FOR_ITEMS,
    LISTENER_INTERVALS,
    MIXED_MODEL,
    NO_GROUPS,
    POPULATION_TEXTS,
    POPULATIONS,
    T_TEST,
    interval_for,
)
from earwitness.analysis.screening import (
    DEVICE_RULE,
    PRESETS,
    SCREENS,
    SHARE_LIMITS,
    SIGNED_LIMITS,
)
from earwitness.errors import Problem, UsageError, file_problem, nearest
from earwitness.io.schema import Fault
from earwitness.io.source import is_present
from earwitness.studies.device import REQUIRED_STEPS
from earwitness.studies.file.check_clips import (
    StudyMapping,
    eligibility_faults,
    kind_faults,
    preset_faults,
    quality_faults,
)
from earwitness.studies.file.material import Faults
from earwitness.studies.file.schema import (
    KEYS_FOR_KINDS,
    KEYS_OF_AUDIO,
    KEYS_WITHOUT_ROWS,
    KIND_SUPPORT,
    NEEDED_KEYS,
    NOT_SINGLE,
    SEPARATE_KINDS,
)
from earwitness.studies.study import Clip, Trial
from earwitness.studies.trials import KINDS
from earwitness.studies.trials.base import LETTERS, TrialKind
from earwitness.studies.trials.words import ORIGINAL_SYSTEM
from earwitness.studies.wording import placeholder_problems, wording

# --- Rubrics, captions and juries ----------------------------------------------------------------


def is_captioned(value: Any) -> bool:
    """Return whether any block of a study judges captions."""
    return any(kind.captioned for kind in _known_kinds(value))


def add_rubric(block: StudyMapping, rubric: Any) -> dict[str, Any]:
    """Return a block with the rubric of the study added, if its trial kind has one."""
    if rubric is None or "rubric" not in KINDS[block["kind"]].parameters():
        return dict(block)
    return {**block, "parameters": {"rubric": rubric, **block["parameters"]}}


def is_transcribed(value: Any) -> bool:
    """Return whether any block of a study is about transcripts."""
    return any(kind.transcribed for kind in _known_kinds(value))


def _known_kinds(value: Any) -> list[type[TrialKind]]:
    """Return the trial kinds of the blocks of a file that is not checked yet."""
    blocks = value.get("blocks") if isinstance(value, dict) else None
    kinds = [
        block.get("kind")
        for block in (blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict)
    ]
    return [KINDS[kind] for kind in kinds if kind in KINDS]


def judged_systems(value: StudyMapping) -> list[str]:
    """Return the systems whose summaries are judged."""
    blocks = [block for block in value["blocks"] if KINDS[block["kind"]].summarized]
    names = [name for block in blocks for name in block.get("systems", value["systems"])]
    return list(dict.fromkeys(names))


def table_faults(value: StudyMapping, kinds: Sequence[TrialKind]) -> Faults:
    """Yield contradictions between keys that are listed beside the keys."""
    known = _known_kinds(value)
    for key, attribute, unused, remedy in KEYS_FOR_KINDS:
        is_used = any(getattr(kind, attribute) for kind in known)
        if key in value and not is_used:
            names = [f"kind: {name}" for name, kind in KINDS.items() if getattr(kind, attribute)]
            yield Fault(key, unused, f"add a block with {' or '.join(names)}")
        elif is_used and remedy and not value.get(key):
            yield Fault(key, "missing", remedy)
    for attribute, message, where in SEPARATE_KINDS:
        having = [kind for kind in known if getattr(kind, attribute)]
        if having and len(having) < len(known):
            yield Fault("blocks", message, "split the study")
        for key in KEYS_OF_AUDIO if having else ():
            if value.get(key):
                yield Fault(key, f"not supported {where}", "remove this key")
    for key, message in KEYS_WITHOUT_ROWS.items() if value.get("rows") else ():
        if _find_key(value, key):
            yield Fault(key, message, "remove this key")
    for key, needed, message, remedy in NEEDED_KEYS:
        if _find_key(value, key) and not any(_find_key(value, name) for name in needed):
            yield Fault(key, message, remedy)
    for key, is_supported, reason in KIND_SUPPORT:
        for kind in kinds if _find_key(value, key) else ():
            if not is_supported(kind):
                yield Fault(key, f"not supported by {kind.name}{reason}")


def _find_key(value: StudyMapping, path: str) -> Any:
    """Return the value of a key such as ``quality.clips``, or something empty if it is unset."""
    for name in path.split("."):
        value = value.get(name) or {}
    return value


def transcript_faults(value: StudyMapping, kinds: Sequence[TrialKind]) -> Faults:
    """Yield faults of what blocks about transcripts show and play."""
    texts = [kind for kind in kinds if kind.transcribed]
    if not texts:
        return
    if set("{}") & set(value.get("transcripts", "").replace("{item}", "")):
        yield Fault("transcripts", "allows no braces other than {item}")
    heard = any(kind.plays_audio for kind in texts)
    if heard and "files" not in value:
        yield Fault("files", "required by audio: true", "for example audio/{item}.wav")
    if "files" in value and not heard:
        yield Fault("files", "no block plays audio", "write audio: true under parameters")
    for number, block in enumerate(value["blocks"]):
        systems = block.get("systems", value["systems"])
        kind = KINDS[block["kind"]]
        if kind.transcribed and not kind.drawn and len(systems) > 1:
            message = f"{kind.name} shows one transcript per item, got {len(systems)} systems"
            path = f"blocks[{number}].systems" if "systems" in block else "systems"
            yield Fault(path, message, f"write systems: [{ORIGINAL_SYSTEM}]")


def missing_sounds(folder: Path, value: StudyMapping) -> list[Problem]:
    """Return a problem for each missing audio file of an example."""
    names = dict.fromkeys(name for kind in valid_kinds(value) for name in kind.example_sounds)
    return [
        file_problem(folder / name, "missing audio file of an example")
        for name in names
        if not is_present(folder / name)
    ]


def group_faults(kinds: Sequence[TrialKind], clips: Sequence[Clip]) -> Faults:
    """Yield faults of the column by which captions are grouped."""
    columns = list(clips[0].covariates) if clips else []
    for number, kind in enumerate(kinds):
        if kind.within and clips and kind.within not in columns:
            path = f"blocks[{number}].parameters.group"
            message = f'the material has no column "{kind.within}"'
            yield Fault(path, message, nearest(kind.within, columns))


# --- Result groups and equivalence margins -------------------------------------------------------


def by_faults(value: StudyMapping, clips: Sequence[Clip]) -> Faults:
    """Yield faults of analysis.by, which names fields of clips or listeners."""
    if not clips:
        return
    asked = [question["name"] for questions in value["forms"].values() for question in questions]
    juries = ["jury"] if value["juries"] else []
    fields = [*clips[0].covariates, *juries, *asked, NO_GROUPS]
    names = value["analysis"]["by"]
    for index, name in enumerate(names):
        path = f"analysis.by[{index}]"
        if name in names[:index]:
            yield Fault(path, f'duplicate "{name}"')
        elif name not in fields:
            message = f'neither clips nor listeners have a field "{name}"'
            yield Fault(path, message, nearest(name, fields))


def margin_faults(margins: Mapping[str, float], scales: Collection[str]) -> Faults:
    """Yield faults of margins, which must belong to known scales and be above 0."""
    for name, margin in margins.items():
        path = f"analysis.margins.{name}"
        if name not in scales:
            yield Fault(path, f'unknown scale "{name}"', nearest(str(name), scales))
        elif margin == 0:
            yield Fault(path, "must be above 0, got 0", "no two systems are exactly equal")


# --- Contradictions between keys -----------------------------------------------------------------


def contradictions(value: StudyMapping, clips: Sequence[Clip], *, practice: bool = True) -> Faults:
    """Yield contradictions between keys that are each valid on their own.

    If ``practice`` is false, clips for practice trials are not required.
    """
    if not practice:
        value = {**value, "training": 0}
    systems = value["systems"]
    yield from _repeat_faults(systems, "systems")
    for key in ("reference", "anchors"):
        if PurePosixPath(value.get(key, "")).name in systems:
            yield Fault(key, "is also listed under systems", "remove it from one of the two")
    for number, block in enumerate(value["blocks"]):
        count = max(0, len(clips) - len(value["training_items"]))
        yield from _block_faults(value, block, f"blocks[{number}]", systems, count)
    items = value["training_items"]
    yield from _repeat_faults(items, "training_items")
    if names := [clip.name for clip in clips]:
        yield from _unknown_faults(items, names, "training_items", "the material has no clip")
    kinds = valid_kinds(value)
    yield from table_faults(value, kinds)
    yield from transcript_faults(value, kinds)
    yield from group_faults(kinds, clips)
    yield from _listener_faults(value)
    yield from _covariate_faults(value["balance"], clips)
    yield from _wording_faults(value)
    yield from _form_faults(value["forms"])
    yield from eligibility_faults(value["forms"])
    yield from quality_faults(value, kinds)
    yield from _feedback_faults(value)
    yield from _analysis_faults(value, systems, kinds)
    yield from by_faults(value, clips)


def _repeat_faults(names: Iterable[Any], path: str) -> Faults:
    texts = list(map(str, names))
    for index, name in enumerate(texts):
        if name in texts[:index]:
            yield Fault(f"{path}[{index}]", f'duplicate "{name}"')


def _unknown_faults(
    names: Iterable[Any], known: Collection[str], path: str, message: str = "unknown system"
) -> Faults:
    """Yield a fault for each name of a list that is not known."""
    for index, name in enumerate(map(str, names)):
        if name not in known:
            yield Fault(f"{path}[{index}]", f'{message} "{name}"', nearest(name, known))


def kind_of(block: StudyMapping) -> TrialKind | UsageError:
    """Return the trial kind of a block with its parameters, or the error in them."""
    kind, parameters = KINDS[block["kind"]], block.get("parameters", {})
    for name in parameters:
        if name not in kind.parameters():
            message = f'{kind.name} has no parameter "{name}"'
            return UsageError(f"{message} — {nearest(name, kind.parameters())}")
    try:
        return kind(**parameters)
    except UsageError as error:
        return error


def valid_kinds(value: StudyMapping) -> list[TrialKind]:
    """Return the trial kinds of all blocks whose parameters are valid."""
    kinds = map(kind_of, value["blocks"])
    return [kind for kind in kinds if not isinstance(kind, UsageError)]


def _block_faults(
    value: StudyMapping, block: StudyMapping, path: str, systems: Sequence[str], clips: int
) -> Faults:
    block_systems = block.get("systems", systems)
    yield from _repeat_faults(block_systems, f"{path}.systems")
    yield from _unknown_faults(block_systems, systems, f"{path}.systems")
    heard = block.get("heard", len(block_systems))
    if heard > len(block_systems):
        yield Fault(
            f"{path}.heard",
            f"must be at most {len(block_systems)}, the number of systems, got {heard}",
        )
    panels = value["panels"]
    size = block.get("clips", clips // panels)
    if not clips:
        pass  # reported elsewhere
    elif size * panels > clips:
        groups = "1 panel" if panels == 1 else f"{panels} panels"
        message = f"{groups} of {size} clips need {size * panels} clips, the material has {clips}"
        yield Fault(f"{path}.clips", message, "reduce clips or panels")
    elif size < 1:
        yield Fault(
            "panels", f"{panels} panels need at least {panels} clips, the material has {clips}"
        )
    elif block["sessions"] > size:
        yield Fault(
            f"{path}.sessions", "more sessions than clips, so some sessions would lack a system"
        )
    kind = kind_of(block)
    if isinstance(kind, UsageError):
        named = block["parameters"].get("rubric") is value.get("rubric", "")
        yield Fault("rubric" if named else f"{path}.parameters", str(kind))
    else:
        yield from _kind_faults(value, kind, heard, path, systems)
        if clips:
            yield from _practice_faults(value, kind, block_systems[:heard], clips, path)


def _practice_faults(
    value: StudyMapping, kind: TrialKind, systems: Sequence[str], clips: int, path: str
) -> Faults:
    """Yield a fault if too few clips remain for practice, which uses the first block's kind."""
    if value["training"] and path == "blocks[0]" and not value.get("rows"):
        share = clips // value["panels"]
        heard = sum(block.get("clips", share) for block in value["blocks"])
        free = len(value["training_items"]) or max(0, clips - heard)
        trials = [Trial("", tuple(systems), ()) for _ in kind.treatments(systems, "")]
        most = free * len(kind.practice_trials(trials))
        if value["training"] > most:
            message = f"the clips not heard later suffice for {most} practice trials only"
            yield Fault("training", message, "reduce training or the clips per listener")


def _kind_faults(
    value: StudyMapping, kind: TrialKind, heard: int, path: str, systems: Sequence[str]
) -> Faults:
    """Yield faults if a study lacks what its trial kind needs."""
    if kind.needs_reference and not value.get("reference"):
        yield Fault("reference", f"required by {kind.name}", "name a folder, such as ref")
    if not kind.treatments(["x"] * heard, ""):
        yield Fault(f"{path}.systems", f"{kind.name} needs at least 2 systems")
    elif kind.switching and len(kind.treatments(["x"] * heard, "")[0]) > len(LETTERS):
        yield Fault(f"{path}.systems", f"more than {len(LETTERS)} audio files on one page")
    extra = kind.extra(value.get("reference", ""))
    for name in extra:
        if extra.count(name) > 1 or (name in systems and name != value.get("reference")):
            yield Fault(f"{path}.parameters", f'"{name}" is both an anchor and another system')
            break


def _listener_faults(value: StudyMapping) -> Faults:
    """Yield faults of the numbers of listeners, of which juries together must have all."""
    kinds = [block["kind"] for block in value["blocks"]]
    count, listeners = sum(value["juries"].values()), value.get("listeners")
    if value.get("rows"):
        if len(set(kinds)) < len(kinds):
            yield Fault("rows", "rows do not state their block", "use each kind in one block only")
    elif listeners is None:
        yield Fault("listeners", "required unless rows is set")
    elif listeners < value["panels"]:
        message = f"{listeners} listeners are too few for {value['panels']} panels"
        yield Fault("listeners", message)
    if value["juries"] and count != listeners:
        message = f"juries have {count} listeners, but listeners is {listeners}"
        yield Fault("juries", message, "remove listeners")


def _covariate_faults(balance: StudyMapping, clips: Sequence[Clip]) -> Faults:
    if not clips:
        return
    columns = set(clips[0].covariates)
    for kind, names in balance.items():
        path = f"balance.{kind}"
        yield from _repeat_faults(names, path)
        yield from _unknown_faults(names, columns, path, "the material has no column")
    for index, column in enumerate(balance["numbers"]):
        odd = [c.name for c in clips if isinstance(c.covariates.get(column), str)]
        if odd:
            message = f'"{column}" of {odd[0]} is not a number'
            yield Fault(f"balance.numbers[{index}]", message, "list it under categories")


def _wording_faults(value: StudyMapping) -> Faults:
    """Yield faults of custom wordings: unknown names, placeholders, or numbers of labels."""
    packaged, changes = wording(value["language"]), value["wordings"]
    groups = {"pages": packaged.pages, "web": packaged.web, "scales": packaged.scales}
    for kind, names in groups.items():
        for name in changes.get(kind, {}):
            if name not in names:
                yield Fault(f"wordings.{kind}.{name}", "unknown name", nearest(name, names))
    for path, message in placeholder_problems(changes):
        yield Fault(f"wordings.{path}", message)
    for name, words in changes.get("scales", {}).items():
        if name in packaged.scales and "labels" in words:
            wanted, got = len(packaged.labels(name)), len(words["labels"])
            if wanted != got:
                message = f"{name} needs {wanted} labels, got {got}"
                yield Fault(f"wordings.scales.{name}.labels", message)


def _form_faults(forms: StudyMapping) -> Faults:
    for when, questions in forms.items():
        yield from _repeat_faults((question["name"] for question in questions), f"forms.{when}")
        for index, question in enumerate(questions):
            path, choice = f"forms.{when}[{index}].options", question.get("answer") == "choice"
            if choice and "options" not in question:
                yield Fault(path, "required if answer is choice")
            if "options" in question and not choice:
                yield Fault(path, "allowed only if answer is choice", "write answer: choice")
            yield from _repeat_faults(question.get("options", []), path)


def _feedback_faults(value: StudyMapping) -> Faults:
    """Yield faults of device checks, practice feedback and gold answers."""
    device = value["device"]
    yield from _repeat_faults(device["steps"], "device")
    yield from _repeat_faults(device["require"], "device.require")
    for index, step in enumerate(device["require"]):
        if step not in device["steps"]:
            yield Fault(f"device.require[{index}]", f'"{step}" is not one of steps', "add it there")
    kind = kind_of(value["blocks"][0])
    if "gold" in value and isinstance(kind, TrialKind) and not kind.has_known_answers:
        yield Fault("gold", f"not supported by {kind.name}{NOT_SINGLE}")


def _analysis_faults(
    value: StudyMapping, systems: Sequence[str], kinds: Sequence[TrialKind]
) -> Faults:
    """Yield faults of screening rules and of the planned analysis."""
    names = [block["kind"] for block in value["blocks"]]
    for index, rule in enumerate(value["screening"]):
        yield from _rule_faults(rule, f"screening[{index}]", names)
        if rule["rule"] == DEVICE_RULE and not {*value["device"]["steps"]} & {*REQUIRED_STEPS}:
            message = f"needs a device check ({', '.join(REQUIRED_STEPS)})"
            yield Fault(f"screening[{index}].rule", message, "add one under device")
    if len(kinds) == len(names):  # otherwise scales are unknown
        scales = {name for kind in kinds for name in kind.results()}
        named = value["analysis"]["scales"]
        yield from _unknown_faults(named, scales, "analysis.scales", "unknown scale")
        yield from margin_faults(value["analysis"]["margins"], scales)
        anchors = value["analysis"]["anchors"]
        for name in map(str, anchors if isinstance(anchors, dict) else ()):
            if name not in scales:
                message = f'unknown scale "{name}"'
                yield Fault(f"analysis.anchors.{name}", message, nearest(name, scales))
        pages = [kind for kind in kinds if "bs1534" in kind.screening_rules()]
        lacks_control = not any(kind.hidden_reference or kind.anchor_systems for kind in pages)
        for index, rule in enumerate(value["screening"]):
            if rule["rule"] == "bs1534" and pages and lacks_control:
                message = "bs1534 needs a hidden reference or an anchor"
                yield Fault(f"screening[{index}].rule", message, "remove the rule, or add one")
    reference = value.get("reference", "")  # rated in addition, as anchors are
    system_names = [*systems, *(name for kind in kinds for name in kind.extra(reference))]
    for index, pair in enumerate(value["analysis"]["contrasts"]):
        path = f"analysis.contrasts[{index}]"
        yield from _unknown_faults(pair, system_names, path)
        if pair[0] == pair[1]:
            yield Fault(path, f'"{pair[0]}" is compared with itself')
    yield from _anchor_faults(value["analysis"]["anchors"], systems)
    test, interval = value["analysis"]["test"], value["analysis"]["interval"]
    if population := value["analysis"].get("generalize"):
        if not interval_for(population, interval):
            yield Fault(
                "analysis.generalize",
                f"intervals of {interval} are not for {POPULATION_TEXTS[population]}",
                f"use {' or '.join(POPULATIONS[population])}",
            )
        interval = interval_for(population, interval)
    if test != T_TEST and interval not in LISTENER_INTERVALS:
        yield Fault(
            "analysis.test",
            f"{test} compares listeners' mean differences, but interval {interval} does not",
            f"use {' or '.join(LISTENER_INTERVALS)}",
        )
    if value["analysis"]["adjust"] == FOR_ITEMS and interval == MIXED_MODEL:
        yield Fault("analysis.adjust", "the mixed model already adjusts for items", "use none")


def _anchor_faults(anchors: Any, systems: Sequence[str]) -> Faults:
    """Yield faults of anchors that are no systems of the study, or leave none to rank."""
    lists = (
        {f".{scale}": names for scale, names in anchors.items()}
        if isinstance(anchors, dict)
        else {"": anchors}
    )
    for scale, names in lists.items():
        path = f"analysis.anchors{scale}"
        yield from _repeat_faults(names, path)
        yield from _unknown_faults(names, systems, path)
        if {*systems} <= {*map(str, names)}:
            yield Fault(path, "all systems are anchors", "leave at least one system to rank")


def _rule_faults(rule: StudyMapping, path: str, kinds: Sequence[str]) -> Faults:
    if rule["rule"] in PRESETS:
        yield from preset_faults(rule, path, kinds)
        return
    screen = SCREENS[rule["rule"]]
    yield from kind_faults(screen.name, screen.name, f"{path}.rule", kinds)
    for name, limit in rule.get("limits", {}).items():
        if name not in screen.limits:
            yield Fault(f"{path}.limits.{name}", "unknown limit", nearest(name, screen.limits))
        elif name not in SIGNED_LIMITS and not limit >= 0:
            yield Fault(f"{path}.limits.{name}", f"must be at least 0, got {limit:g}")
        elif name in SHARE_LIMITS and limit > 1:
            yield Fault(f"{path}.limits.{name}", f"must be at most 1, got {limit:g}")
