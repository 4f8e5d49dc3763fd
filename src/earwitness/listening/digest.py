"""The digest of a study: the same for the same study, however its file is written."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace

from earwitness.data import Study
from earwitness.listening.kinds import KINDS

ASIDE = ("digest", "listeners", "juries")  # one more listener moves no other
LATER = ("device", "feedback", "gold")  # say nothing where they are not used, as before they were
LATER_PLANNED = ("by", "margins")  # the same, of the analysis


def with_digest(study: Study) -> Study:
    """A study with the digest of all that decides what is heard, asked and computed."""
    value = {key: one for key, one in asdict(study).items() if key not in ASIDE}
    value = {key: one for key, one in value.items() if one or key not in LATER}
    for clip in (*value["material"], *value["anchors"]):
        if not clip["captions"]:
            del clip["captions"]
    planned = value["analysis"]
    value["analysis"] = {k: one for k, one in planned.items() if one or k not in LATER_PLANNED}
    for block in value["blocks"]:
        block["parameters"] = {**KINDS[block["kind"]].parameters(), **block["parameters"]}
    value["wordings"] = {key: one for key, one in value["wordings"].items() if one}
    canonical = json.dumps(value, sort_keys=True)
    return replace(study, digest=hashlib.sha256(canonical.encode()).hexdigest())
