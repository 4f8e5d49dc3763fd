"""Earwitness: an evaluation workbench for systems that work on audio.

Score outputs
-------------
score, compare, people, metrics, gather, network, Accumulator

Run listening tests
-------------------
audio_clips, audio_select, audio_normalize, audio_conditions, study_new, study_check, study_design,
study_power, study_simulate, study_anchors, study_import, study_plane, study_links,
study_status, study_export, study_backup, study_restore, study_ratings, study_ratings_xlsx,
study_summaries, study_analyse, study_export_xlsx, study_import_xlsx, study_sheets, study_enter

Check metrics against human ratings
-----------------------------------
agree, references_experiment

Recognize, align and summarize speech
-------------------------------------
transcribe, align, summarize

Condense and synthesize recordings
----------------------------------
skim, soundscape

Results
-------
render
    Convert a result to text, Markdown, HTML, LaTeX, JSON or CSV. Every result also has
    ``to_records``, ``to_pandas`` and ``to_polars``, and is shown as a report in notebooks.

Metrics of one output
---------------------
chapters, summaries, skims
    Functions such as ``chapters.collar([61, 120], [60], collar=3.0)``.

The functions have the names of the commands of the command line program (``earwitness --help``),
with ``study_`` for those of ``earwitness study``, ``audio_`` for those of ``earwitness audio`` and
``_experiment`` for those of ``earwitness experiment``; those of ``earwitness summarizer`` are in
``earwitness.summaries.methods``. Everything is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from earwitness import report
from earwitness.docstrings import complete_docstring
from earwitness.version import __version__ as __version__

if TYPE_CHECKING:
    from earwitness import chapters as chapters
    from earwitness import skims as skims
    from earwitness import summaries as summaries
    from earwitness.chapters.gather import gather as gather
    from earwitness.experiments.references import references_experiment as references_experiment
    from earwitness.forms.sheets.to_answers import study_enter as study_enter
    from earwitness.forms.sheets.write import study_sheets as study_sheets
    from earwitness.forms.workbooks.export import study_export_xlsx as study_export_xlsx
    from earwitness.forms.workbooks.to_answers import study_import_xlsx as study_import_xlsx
    from earwitness.forms.workbooks.votes import study_ratings_xlsx as study_ratings_xlsx
    from earwitness.material.clips import audio_clips as audio_clips
    from earwitness.material.normalize import audio_normalize as audio_normalize
    from earwitness.material.reference_conditions import audio_conditions as audio_conditions
    from earwitness.material.selection import audio_select as audio_select
    from earwitness.output_formats import render as render
    from earwitness.registry import metrics as metrics
    from earwitness.scoring.accumulator import Accumulator as Accumulator
    from earwitness.scoring.compare import compare as compare
    from earwitness.scoring.score import people as people
    from earwitness.scoring.score import score as score
    from earwitness.skims.run import skim as skim
    from earwitness.soundscapes.write import soundscape as soundscape
    from earwitness.speech.align import align as align
    from earwitness.speech.recognize import transcribe as transcribe
    from earwitness.studies.admin import study_backup as study_backup
    from earwitness.studies.admin import study_export as study_export
    from earwitness.studies.admin import study_links as study_links
    from earwitness.studies.admin import study_restore as study_restore
    from earwitness.studies.admin import study_status as study_status
    from earwitness.studies.agree import agree as agree
    from earwitness.studies.analyse import study_analyse as study_analyse
    from earwitness.studies.design.report import study_check as study_check
    from earwitness.studies.design.report import study_design as study_design
    from earwitness.studies.from_answers import study_ratings as study_ratings
    from earwitness.studies.from_answers import study_summaries as study_summaries
    from earwitness.studies.plane_study import study_plane as study_plane
    from earwitness.studies.power import study_power as study_power
    from earwitness.studies.prepare import study_anchors as study_anchors
    from earwitness.studies.prepare import study_import as study_import
    from earwitness.studies.simulate import study_simulate as study_simulate
    from earwitness.studies.template import study_new as study_new
    from earwitness.summaries.methods.summarize import summarize as summarize
    from earwitness.word_networks import network as network

FUNCTION_MODULES = {
    "Accumulator": "scoring.accumulator",
    "agree": "studies.agree",
    "align": "speech.align",
    "audio_clips": "material.clips",
    "audio_conditions": "material.reference_conditions",
    "audio_normalize": "material.normalize",
    "audio_select": "material.selection",
    "compare": "scoring.compare",
    "gather": "chapters.gather",
    "metrics": "registry",
    "network": "word_networks",
    "people": "scoring.score",
    "references_experiment": "experiments.references",
    "render": "output_formats",
    "score": "scoring.score",
    "skim": "skims.run",
    "soundscape": "soundscapes.write",
    "study_analyse": "studies.analyse",
    "study_anchors": "studies.prepare",
    "study_backup": "studies.admin",
    "study_check": "studies.design.report",
    "study_design": "studies.design.report",
    "study_enter": "forms.sheets.to_answers",
    "study_export": "studies.admin",
    "study_export_xlsx": "forms.workbooks.export",
    "study_import": "studies.prepare",
    "study_import_xlsx": "forms.workbooks.to_answers",
    "study_links": "studies.admin",
    "study_new": "studies.template",
    "study_plane": "studies.plane_study",
    "study_power": "studies.power",
    "study_ratings": "studies.from_answers",
    "study_summaries": "studies.from_answers",
    "study_ratings_xlsx": "forms.workbooks.votes",
    "study_restore": "studies.admin",
    "study_sheets": "forms.sheets.write",
    "study_simulate": "studies.simulate",
    "study_status": "studies.admin",
    "summarize": "summaries.methods.summarize",
    "transcribe": "speech.recognize",
}
report.RENDERERS_PLACE = "earwitness.output_formats:RENDERERS"
SUBPACKAGES = ("chapters", "skims", "summaries")

__all__ = sorted(["__version__", *FUNCTION_MODULES, *SUBPACKAGES])

if not TYPE_CHECKING:  # type checkers know all names, and refuse others

    def __getattr__(name: str) -> Any:
        """Import a function or a package when it is first used."""
        if name in SUBPACKAGES:
            return import_module(f"earwitness.{name}")
        if name in FUNCTION_MODULES:
            function = getattr(import_module(f"earwitness.{FUNCTION_MODULES[name]}"), name)
            function.__doc__ = complete_docstring(function)
            return function
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
