"""Chapters: the task of segmenting a long recording, and its metrics as plain functions.

Times are in seconds from the start. A value that is not defined for a case is NaN, and the case is
counted as undefined; see the table of empty cells of each metric.

The functions compare one output with one reference, or with those of several annotators, and return
values by name. They use the same code as ``earwitness.score``, which scores whole corpora, with
confidence intervals. A function has the name and the parameters of its metric; before these come

- of metrics of time: ``hypothesis`` and ``reference``, lists of boundaries (or one list per
  annotator), and ``duration``, which ``collar``, ``r_value`` and ``deviation`` need only
  for ``edge``;
- of ``sentences``: the same, ``starts``, the start times of the sentences of the reference
  transcript, and optionally ``hypothesis_starts``, those of the output's own transcript;
- of ``titles`` and ``title_bertscore``: both lists of titles with their start times;
- of ``wer``: both transcripts.

>>> import earwitness as ew
>>> ew.chapters.collar([61, 120], [60], collar=3.0)
{'collar_precision': 0.5, 'collar_recall': 1.0, 'collar_f1': 0.6666666666666666}
>>> ew.chapters.chunks([61], [60], 180)["boundary_similarity"]
1.0
>>> ew.chapters.r_value([61, 120], [60])["over_segmentation"]
1.0
>>> ew.chapters.similarity([61], [60], 180)
{'segmentation_similarity': 1.0}
>>> round(ew.chapters.segments([90], [60], 180)["purity"], 3)
0.833
>>> round(ew.chapters.agreement([61, 130], [60], 180)["pi"], 3)
0.499
>>> ew.chapters.titles([("Opening words", 0)], [("Opening words", 0)], 60)["tm_rl_f1"]
1.0
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = [
    "agreement",
    "chunks",
    "collar",
    "deviation",
    "r_value",
    "segments",
    "sentences",
    "similarity",
    "title_bertscore",
    "titles",
    "wer",
]


def __getattr__(name: str) -> Callable[..., dict[str, float]]:
    """Return the function of a metric, which is made from its class."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from earwitness.chapters.functions import metric_function

    return metric_function(name)
