"""How ratings are analysed: as a study plans it, but for what is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from earwitness import __version__
from earwitness.api.gathered import study_groups
from earwitness.data import Rule, Study
from earwitness.errors import UsageError
from earwitness.listening.analysis.scales import said_scales
from earwitness.listening.analysis.settings import Settings, rule_named
from earwitness.listening.kinds import block_kind
from earwitness.listening.kinds.mushra import CUTOFFS, Mushra
from earwitness.listening.kinds.rubric import RubricKind

USUAL = ("dataset", "jury")  # by which judged captions are divided
NO_FIELD = "none"  # says that results are not divided
MIDDLE = list(CUTOFFS)[-1]  # the anchor that is to be heard as one


def settings_of(
    study: Study | None,
    *,
    interval: str = "",
    level: float = 0.0,
    correction: str = "",
    contrasts: Sequence[tuple[str, str]] = (),
    by: Sequence[str] = (),
    margins: Sequence[tuple[str, str]] = (),
    scales: Sequence[str] = (),
    screening: Sequence[str] | None = None,
    reference: str = "",
    anchor: str = "",
    **more: Any,
) -> Settings:
    """How ratings are analysed: as a study plans it, but for what is said.

    ``scales`` says how far scales go, such as ``MOS=1:5``. ``screening`` names rules with their
    usual limits; ``reference`` and ``anchor`` are the hidden reference and the middle anchor that
    some of them need. ``by`` names fields of items or listeners (``none`` is no field), ``margins``
    are pairs of a scale and a number. ``more`` are fields of ``Settings``: doubled, draws, seed,
    mixed, blank.
    """
    planned = _planned(study)
    said: dict[str, Any] = {"interval": interval, "level": level, "correction": correction}
    said |= {"contrasts": tuple(contrasts), "by": tuple(by), "margins": _margins(margins)}
    plan = replace(planned.plan, **{name: value for name, value in said.items() if value})
    plan = replace(plan, by=tuple(name for name in plan.by if name != NO_FIELD))
    rules = planned.screening if screening is None else tuple(map(rule_named, screening))
    return replace(
        planned,
        plan=plan,
        screening=rules,
        scales=said_scales(scales),
        reference=reference or planned.reference,
        anchor=anchor or planned.anchor,
        version=__version__,
        **more,
    )


def _margins(said: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Margins by scale."""
    found = {}
    for scale, text in said:
        try:
            found[scale] = float(text)
        except ValueError:
            raise UsageError(f'margin must be like total=0.5, got "{scale}={text}"') from None
    return found


def _planned(study: Study | None) -> Settings:
    """What a study plans, and which of its sounds are the hidden reference and an anchor."""
    if study is None:
        return Settings()
    kinds = [block_kind(block) for block in study.blocks]
    anchors = [name for kind in kinds if isinstance(kind, Mushra) for name in kind.anchors]
    middle = MIDDLE if MIDDLE in anchors else (anchors[-1] if anchors else "")
    rubrics = [kind for kind in kinds if isinstance(kind, RubricKind)]
    return Settings(
        replace(study.analysis, by=_by(study, judged=bool(rubrics))),
        study.screening,
        reference=study.reference,
        anchor=middle,
        anchors=tuple(anchors),
        rubric=rubrics[0].judged if rubrics else None,
        blank=rubrics[0].blank if rubrics else "drop",
    )


def _by(study: Study, *, judged: bool) -> tuple[str, ...]:
    """What a study says; where captions are judged, by dataset and jury if there are several."""
    if study.analysis.by or not judged:
        return study.analysis.by
    known = study_groups(study)
    usual = [name for name in USUAL if name in known]
    return tuple(name for name in usual if len({*known[name].groups.values()}) > 1)


def changed(study: Study | None, settings: Settings) -> tuple[str, ...]:
    """Where an analysis differs from the plan of its study."""
    if study is None:
        return ()
    planned = _planned(study)
    plan, here = planned.plan, settings.plan
    both = {
        "interval": (plan.interval, here.interval),
        "level": (f"{plan.level:g}", f"{here.level:g}"),
        "correction": (plan.correction, here.correction),
        "contrasts": (_pairs(plan.contrasts), _pairs(here.contrasts)),
        "by": (_fields(plan.by), _fields(here.by)),
        "blank": (planned.blank, settings.blank),
        "margins": (_shown(plan.margins), _shown(here.margins)),
        "screening": (_rules(study.screening), _rules(settings.screening)),
    }
    return tuple(
        f"{name}: {planned} was planned, {done} was done"
        for name, (planned, done) in both.items()
        if planned != done
    )


def _pairs(contrasts: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{a} – {b}" for a, b in contrasts) or "all pairs"


def _fields(by: Sequence[str]) -> str:
    return ", ".join(name for name in by if name != NO_FIELD) or "nothing"


def _shown(margins: Mapping[str, float]) -> str:
    return ", ".join(f"{name} ±{margin:g}" for name, margin in margins.items()) or "none"


def _rules(rules: Sequence[Rule]) -> str:
    return ", ".join(rule.name for rule in rules) or "none"
