"""The command serve: a study in listeners' browsers."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from earwitness.cli.main import Termination
from earwitness.cli.options import drop_unset
from earwitness.cli.output import (
    DB_OPTION,
    LOOPBACK_HOSTS,
    QUIET_OPTION,
    STUDY_ARGUMENT,
    address_options,
    flag_option,
    preview_message,
    print_message,
    print_notes,
    progress_bar,
    text_option,
    warnings_as_notes,
)
from earwitness.cli.signatures import signature_options
from earwitness.errors import UsageError, printable, refuse_problems
from earwitness.store.records import ParticipationState
from earwitness.store.store import Store
from earwitness.studies.admin import (
    exposure_notes,
    judges_captions,
    missing_listener_notes,
    other_form_notes,
    store_address,
)
from earwitness.studies.changes import changed_audio_notes, record_version
from earwitness.studies.design.report import study_design
from earwitness.studies.file.audio_checks import check_audio
from earwitness.studies.file.page_checks import check_pages, page_sound_names
from earwitness.studies.file.reader import read_study
from earwitness.studies.study import STORE_FILE_NAME, Design
from earwitness.version import __version__
from earwitness.web.app import make_app
from earwitness.web.connections import (
    is_loopback,
    link_address,
    make_server,
    open_socket,
    socket_address,
)
from earwitness.web.preview import make_preview_app
from earwitness.web.recordings import (
    StudyRecordings,
    close_recordings,
    open_recordings,
    report_progress,
)
from earwitness.web.security import GuardedApp
from earwitness.web.site import Site, SiteSettings, make_site

OTHER_HOSTS_NOTE = (
    "open link: works with an IP address or localhost — for a host name, such as that of a proxy, "
    "serve with --allow-host NAME"
)


@click.command("serve")
@STUDY_ARGUMENT
@DB_OPTION
@address_options(port=8000)
@text_option(
    "--trust-proxy",
    metavar="IP,...",
    help="Proxy addresses whose X-Forwarded-* headers are trusted.",
)
@flag_option(
    "--no-audio",
    "audio",
    flag_value=False,
    default=True,
    help="Do not measure the audio files, so that none is refused.",
    show_default=False,
)
@flag_option(
    "--preview",
    help="Show any page of any listener at once: nothing is required, checked or stored.",
)
@signature_options(SiteSettings, "outside_id")
@QUIET_OPTION
def serve_command(
    study: Path,
    db: str | None,
    host: str,
    port: int,
    trust_proxy: str,
    audio: bool,
    preview: bool,
    allow_hosts: tuple[str, ...],
    **options: Any,
) -> None:
    """Serve STUDY to listeners in their browsers, until Ctrl-C is pressed.

    \b
    earwitness serve study.yaml --preview
    earwitness serve study.yaml
    earwitness study links study.yaml --base http://127.0.0.1:8000
    """
    hosts = ",".join(allow_hosts).split(",")
    allow_hosts = tuple(name.strip().lower().rstrip(".") for name in hosts if name)
    settings = SiteSettings(allow_hosts=allow_hosts, **drop_unset(options))
    if preview:
        if db is not None:
            raise UsageError("--preview stores nothing — omit --db")
        _serve_preview(study, settings, host, port)
        return
    design, warnings = _check_study(study, audio=audio)
    with warnings_as_notes():
        opened = Store.open(store_address(study, db), version=__version__, serving=True)
    with opened as store:
        site = make_site(study, store, settings, design)
        with open_socket(host, port) as listening:
            record_version(store, design.study, page_sound_names(design), study.parent)
            warnings += changed_audio_notes(store, design.study, study.parent)
            warnings += _encryption_warnings(listening, proxy=trust_proxy)
            _print_addresses(site, study, db, listening)
            if (
                site.settings.open
                and not allow_hosts
                and (trust_proxy or not is_loopback(listening))
            ):
                print_message(OTHER_HOSTS_NOTE)
            print_notes(map(printable, warnings), "warning")
            with suppress(KeyboardInterrupt, Termination):  # the server has shut down cleanly
                _run_server(site, listening, trust_proxy)
    loss = f"{printable(store.loss)}." if store.loss else "All received answers are saved."
    print_message(f"Stopped. {loss}")


def _serve_preview(study: Path, settings: SiteSettings, host: str, port: int) -> None:
    """Serve all pages of a study; its database is empty, and removed at the end."""
    design, warnings = _check_study(study, audio=False)
    with (
        TemporaryDirectory() as folder,
        Store.open(Path(folder) / STORE_FILE_NAME) as store,
        open_socket(host, port) as listening,
    ):
        site = make_site(study, store, replace(settings, open=len(design.plans)), design)
        print_message(f"preview: {_base_address(site, listening)}/ (press Ctrl-C to stop)")
        print_notes(map(printable, warnings), "warning")
        hosts = (*LOOPBACK_HOSTS, host) if is_loopback(listening) else ()
        with suppress(KeyboardInterrupt, Termination):
            _run_server(site, listening, make=partial(make_preview_app, hosts=hosts))
    print_message("Stopped. Nothing was stored.")


def _base_address(site: Site, listening: socket.socket) -> str:
    """Return the start of links."""
    return f"{link_address(listening)}{site.settings.root_path}"


def _check_study(study: Path, *, audio: bool) -> tuple[Design, list[str]]:
    """Return the design of a study and warnings; refuse a study that study check refuses."""
    design = study_design(read_study(study))
    checks = check_pages(design, study)
    refuse_problems(checks.problems, "served")
    if audio:
        with progress_bar(unit="files") as progress:
            check_audio(design.study, study.parent, progress=progress)
    return design, list(checks.warnings)


def _encryption_warnings(listening: socket.socket, *, proxy: str) -> list[str]:
    """Return a warning if answers and links travel unencrypted over a network."""
    if is_loopback(listening) or proxy:
        return []
    host = listening.getsockname()[0]
    return [
        f"links and answers travel unencrypted, since {host} is reached over a network without "
        "HTTPS — put an HTTPS proxy in front and set --trust-proxy to its address"
    ]


def _print_addresses(site: Site, study: Path, db: str | None, listening: socket.socket) -> None:
    address = f"{socket_address(listening)}{site.settings.root_path}"
    base = _base_address(site, listening)
    title = printable(site.design.study.title)
    print_message(f"serving {title} at {address}/ (press Ctrl-C to stop)")
    db_option = "" if db is None else " --db …" if "://" in db else f" --db {db}"
    print_message(f"links: earwitness study links {study}{db_option} --base {base}")
    if base != address:
        message = "HOST is the name or address at which listeners reach this machine"
        print_message(f"links: {message}")
    notes = [*_site_notes(site), *exposure_notes(store_address(study, db))]
    print_notes(map(printable, notes))
    if site.settings.open:
        _print_open_link(site, f"{base}/join", f"earwitness study links {study}{db_option}")
    print_message(preview_message(study))


def _site_notes(site: Site) -> Iterator[str]:
    """Yield warnings about the site, and what to do."""
    plan = site.design.study
    yield from other_form_notes(site.store, plan)
    yield from missing_listener_notes(site.store, plan, site.numbers)
    if site.served_sounds.warning:
        yield site.served_sounds.warning
    if judges_captions(plan) and site.no_workbooks:
        yield f"workbooks are not available: {site.no_workbooks}"


def _print_open_link(site: Site, address: str, links: str) -> None:
    """Print the open link, its free places, and what to do if there are none."""
    free_places = site.store.count_free_places(site.digest, site.quota)
    open_places = site.settings.open
    print_message(f"open link: {address} (free places: {free_places})")
    open_numbers = [plan.listener for plan in site.design.plans][-open_places:]
    listeners = [status.listener for status in site.store.status(site.digest)]
    states = {listener.number: listener.state for listener in listeners}
    invited = sum(states[number] == ParticipationState.INVITED for number in open_numbers)
    if invited:
        message = f"{invited} of {open_places} open places have personal links"
        remedy = f"revoke unused links with {links} --take-back {invited}, then serve again"
        print_message(f"open link: {message} — {remedy}")
    elif not free_places:
        message = "all places are taken, and further visitors are turned away"
        print_message(f"open link: {message} — increase --open")


def _run_server(
    site: Site,
    listening: socket.socket,
    trusted: str = "",
    make: Callable[[Site, StudyRecordings], GuardedApp] = make_app,
) -> None:
    if any(recording.hour_gap for recording in site.design.study.recordings):
        print_message("searching for the silences between hours")
    recordings = open_recordings(site)
    report_progress(recordings, lambda text: print_message(printable(text)))
    try:
        make_server(make(site, recordings), site.messages, trusted).run(sockets=[listening])
    finally:
        close_recordings(recordings)
