"""Long recordings of a served study: opened once, shared, and reachable from one page each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from threading import Thread
from time import monotonic, sleep

from starlette.requests import Request

from earwitness.navigator.index import IndexSettings, open_index
from earwitness.studies.file.recordings import open_long_recording, read_labels
from earwitness.web.listen import find_state, use_quota
from earwitness.web.navigator import SOUND_PATH, RecordingView, read_seconds
from earwitness.web.security import RECORDING_REQUESTS, RECORDING_SECONDS, Refusal
from earwitness.web.site import Site

RECORDING_PREFIX = "/l/{token}/recording/{page}"
REPORT_SECONDS = 15.0  # between messages on the terminal
STOPPING_SECONDS = 5.0  # for the computation of an index to end
StudyRecordings = Mapping[str, RecordingView]


def open_recordings(site: Site) -> StudyRecordings:
    """Open the long recordings of a study, by item; their indexes are built in the background.

    Items with the same recording share its index.
    """
    study, views = site.study, dict[str, RecordingView]()
    display = asdict(study.recording_display)
    for study_recording in study.recordings:
        recording = open_long_recording(study_recording, site.folder)
        overlays = [  # the names of their files may reveal something
            overlay._replace(name=site.words.web["recording_overlay"])
            for overlay in read_labels(study_recording, recording, site.folder)
        ]
        index = open_index(recording, settings=IndexSettings(speech=study_recording.speech))
        views[study_recording.item] = RecordingView(index, overlays, display, is_blind=True)
    return views


def find_recording(request: Request) -> RecordingView:
    """Return the recording of the open page of a listener; refuse all others."""
    state, page = find_state(request, RECORDING_REQUESTS), str(request.path_params["page"])
    if request.scope["path"].endswith(SOUND_PATH):
        use_quota(request, {RECORDING_SECONDS: math.ceil(read_seconds(request))})
    recordings: StudyRecordings = request.app.state.recordings
    item = "" if state.is_shut_out or page != state.page.name else state.page.item
    view = recordings.get(item)
    if view is None:
        raise Refusal(403, "not_now", "this recording is not available now")
    return view


def close_recordings(recordings: StudyRecordings) -> None:
    """Stop building the indexes."""
    for view in recordings.values():
        view.index.close()
    for view in recordings.values():
        view.index.wait(STOPPING_SECONDS)


def report_progress(recordings: StudyRecordings, write: Callable[[str], None]) -> None:
    """Report the progress of the indexes in the background, until all are built or have failed."""
    indexes = list({id(view.index): view.index for view in recordings.values()}.values())
    if not indexes:
        return
    hours = sum(index.seconds for index in indexes) / 3600

    def watch() -> None:
        next_report = monotonic() + 1  # recordings in the cache are ready at once
        while any(index.state == "building" for index in indexes):
            sleep(0.2)
            if monotonic() >= next_report:
                next_report = monotonic() + REPORT_SECONDS
                done = sum(index.done for index in indexes) / 3600
                write(f"recordings: indexed {done:.1f} of {hours:.1f} h; listeners can start")
        failed = [index for index in indexes if index.state == "failed"]
        for index in failed:
            write(f"recordings: {index.recording.stretches[0].path}: {index.message}")
        if not failed:
            write(f"recordings: all {hours:.1f} h are indexed")

    Thread(target=watch, daemon=True).start()
