"""The command browse: a day-long recording in the browser."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from earwitness.cli.main import Termination
from earwitness.cli.options import drop_unset
from earwitness.cli.output import (
    CACHE_OPTION,
    FILE,
    LOOPBACK_HOSTS,
    QUIET_OPTION,
    RECORDINGS_ARGUMENT,
    SOUND_UNIT,
    address_options,
    is_quiet,
    list_option,
    print_message,
    print_notes,
    progress_bar,
)
from earwitness.cli.signatures import signature_options
from earwitness.errors import printable
from earwitness.models.cache import Cache, find_cache
from earwitness.navigator.index import IndexSettings, RecordingIndex
from earwitness.navigator.labels import read_overlays
from earwitness.navigator.sound import SpeechChange
from earwitness.recordings.clock import ClockSettings
from earwitness.recordings.recording import open_recording
from earwitness.recordings.types import Damage

if TYPE_CHECKING:
    from earwitness.web.navigator import RecordingView

STOPPING_SECONDS = 5.0  # for the computation of the index to end
MAX_DAMAGES = 10  # that are printed


@click.command("browse")
@RECORDINGS_ARGUMENT
@list_option(
    "--labels",
    type=FILE,
    help="Labels to show: Audacity, Raven, CSV with start, end and label, or the JSON file of picks"
    " written by earwitness skim (repeatable).",
)
@signature_options(ClockSettings)
@signature_options(IndexSettings, "cache_bytes")
@CACHE_OPTION
@address_options(port=8010)
@QUIET_OPTION
def browse_command(recordings: tuple[Path, ...], host: str, port: int, **options: Any) -> None:
    """Browse a day-long recording in the browser, until Ctrl-C is pressed.

    RECORDING is an audio file, or a folder of consecutive files; all of them are one recording. The
    page can be used at once, while the picture of the recording is computed.

    \b
    earwitness browse day.flac
    earwitness browse card/ --zone Europe/Paris --labels birds.txt --labels skim.json
    """
    from earwitness.web.browse import make_browse_app
    from earwitness.web.connections import is_loopback, make_server, open_socket
    from earwitness.web.messages import MessageLimiter

    view = _open_view(recordings, **options)
    with open_socket(host, port) as listening:
        _print_address(view, listening)
        Thread(target=_build_index, args=(view.index, is_quiet()), daemon=True).start()
        messages = MessageLimiter()
        with suppress(KeyboardInterrupt, Termination):  # the server has shut down cleanly
            hosts = (*LOOPBACK_HOSTS, host) if is_loopback(listening) else ()
            app = make_browse_app(view, messages, hosts)
            make_server(app, messages).run(sockets=[listening])
    view.index.close()
    view.index.wait(STOPPING_SECONDS)
    print_message("Stopped.")


def _build_index(index: RecordingIndex, quiet: bool) -> None:
    """Build the index with a progress bar, and print what is wrong; runs next to the server."""
    known = index.recording.damages
    with progress_bar(quiet=quiet, unit=SOUND_UNIT) as progress:
        index.start(progress).wait()
    _print_damages([damage for damage in index.recording.damages if damage not in known])
    if index.state == "failed":
        print_message(f"earwitness: {printable(index.message, keep=chr(10))}")


def _print_damages(damages: Sequence[Damage]) -> None:
    from earwitness.web.navigator import describe_damage

    for damage in damages[:MAX_DAMAGES]:
        print_message(f"warning: {printable(describe_damage(damage))}")
    if len(damages) > MAX_DAMAGES:
        count = len(damages) - MAX_DAMAGES
        print_message(f"warning: {count:,} more damaged passages; the page lists them")


def _open_view(
    paths: tuple[Path, ...],
    *,
    labels: tuple[Path, ...],
    cache: Path | None,
    speech: SpeechChange | None,
    detector: str | None,
    **clock: Any,
) -> RecordingView:
    from earwitness.web.navigator import RecordingView

    if clock["hour_gap"]:
        print_message("searching for the silences between hours")
    recording = open_recording(paths, **drop_unset(clock))
    overlays = read_overlays(recording, labels)
    settings = IndexSettings(**drop_unset({"speech": speech, "detector": detector}))
    absolute = Cache(find_cache(cache).folder.absolute())  # pages hide absolute paths
    index = RecordingIndex(recording, cache=absolute, settings=settings)
    return RecordingView(
        index, overlays, notes=[note for overlay in overlays for note in overlay.notes]
    )


def _print_address(view: RecordingView, listening: socket.socket) -> None:
    from earwitness.web.connections import is_loopback, socket_address

    recording = view.index.recording
    address = socket_address(listening)
    print_message(f"browse {printable(recording.name)} at {address}/ (press Ctrl-C to stop)")
    print_notes(map(printable, (*recording.notes, *view.notes)))
    _print_damages(recording.damages)
    if not is_loopback(listening):
        host = listening.getsockname()[0]
        message = f"anyone who reaches {host} over the network can hear the recording"
        print_message(f"warning: {message} — use --host 127.0.0.1, or an HTTPS proxy")
