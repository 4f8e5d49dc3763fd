"""How ratings are analysed: as a study plans it, but for what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from earwitness import __version__
from earwitness.data import Rule, Study
from earwitness.listening.analysis.scales import said_scales
from earwitness.listening.analysis.settings import Settings, rule_named
from earwitness.listening.kinds import block_kind
from earwitness.listening.kinds.mushra import CUTOFFS, Mushra

MIDDLE = list(CUTOFFS)[-1]  # the anchor that is to be heard as one


def settings_of(
    study: Study | None,
    *,
    interval: str = "",
    level: float = 0.0,
    correction: str = "",
    contrasts: Sequence[tuple[str, str]] = (),
    scales: Sequence[str] = (),
    screening: Sequence[str] | None = None,
    reference: str = "",
    anchor: str = "",
    **more: Any,
) -> Settings:
    """How ratings are analysed: as a study plans it, but for what is said.

    ``scales`` says how far scales go, such as ``MOS=1:5``. ``screening`` names rules with their
    usual limits; ``reference`` and ``anchor`` are the hidden reference and the middle anchor that
    some of them need. ``more`` are fields of ``Settings``: doubled, draws, seed, mixed.
    """
    planned = _planned(study)
    said: dict[str, Any] = {"interval": interval, "level": level, "correction": correction}
    said["contrasts"] = tuple(contrasts)
    plan = replace(planned.plan, **{name: value for name, value in said.items() if value})
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


def _planned(study: Study | None) -> Settings:
    """What a study plans, and which of its sounds are the hidden reference and an anchor."""
    if study is None:
        return Settings()
    kinds = [block_kind(block) for block in study.blocks]
    anchors = [name for kind in kinds if isinstance(kind, Mushra) for name in kind.anchors]
    middle = MIDDLE if MIDDLE in anchors else (anchors[-1] if anchors else "")
    return Settings(
        study.analysis,
        study.screening,
        reference=study.reference,
        anchor=middle,
        anchors=tuple(anchors),
    )


def changed(study: Study | None, settings: Settings) -> tuple[str, ...]:
    """Where an analysis differs from the plan of its study."""
    if study is None:
        return ()
    plan, here = study.analysis, settings.plan
    both = {
        "interval": (plan.interval, here.interval),
        "level": (f"{plan.level:g}", f"{here.level:g}"),
        "correction": (plan.correction, here.correction),
        "contrasts": (_pairs(plan.contrasts), _pairs(here.contrasts)),
        "screening": (_rules(study.screening), _rules(settings.screening)),
    }
    return tuple(
        f"{name}: {planned} was planned, {done} was done"
        for name, (planned, done) in both.items()
        if planned != done
    )


def _pairs(contrasts: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{a} – {b}" for a, b in contrasts) or "all pairs"


def _rules(rules: Sequence[Rule]) -> str:
    return ", ".join(rule.name for rule in rules) or "none"
