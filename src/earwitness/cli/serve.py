"""The command serve: a study in listeners' browsers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from earwitness.cli.main import Termination
from earwitness.cli.output import (
    DB_OPTION,
    STUDY_ARGUMENT,
    Integer,
    address_options,
    choice_option,
    list_option,
    option,
    print_message,
    print_notes,
    progress_bar,
    text_option,
    warnings_as_notes,
)
from earwitness.errors import printable, refuse_problems
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
from earwitness.studies.study import Design
from earwitness.version import __version__
from earwitness.web.app import make_app
from earwitness.web.connections import (
    is_loopback,
    link_address,
    make_server,
    open_socket,
    socket_address,
)
from earwitness.web.recordings import close_recordings, open_recordings, report_progress
from earwitness.web.site import RESUME_POLICIES, Site, SiteSettings, make_site

OTHER_HOSTS_NOTE = (
    "open link: works with an IP address or localhost — for a host name, such as that of a proxy, "
    "serve with --allow-host NAME"
)


@click.command("serve")
@STUDY_ARGUMENT
@DB_OPTION
@address_options(port=8000)
@text_option(
    "--root-path", metavar="PATH", help="Path under which a proxy serves the study, e.g. /test"
)
@text_option(
    "--trust-proxy",
    metavar="IP,...",
    help="Proxy addresses whose X-Forwarded-* headers are trusted.",
)
@option(
    "--open",
    "places",
    type=Integer(0),
    default=0,
    help="Number of places that anyone may claim at /join.",
)
@option(
    "--outside-id",
    default="PROLIFIC_PID",
    metavar="NAME",
    help="Query parameter of /join with the participant ID of a recruitment service.",
)
@choice_option(
    "--resume",
    choices=RESUME_POLICIES,
    help="When a listener returns mid-session: resume, restart the session, or block.",
)
@text_option(
    "--clips",
    metavar="URL",
    help="Address of clips for links in workbooks, e.g. https://example.org/{file}",
)
@option(
    "--audio/--no-audio",
    default=True,
    help="Refuse audio files that study check refuses: unreadable, incomplete or silent ones.",
)
@option(
    "--idle-hours",
    type=click.FloatRange(0),
    default=24,
    metavar="HOURS",
    help="Idle time of an unfinished listener at /join after which another person may take the"
    " place (0: never). Without a second answer, it is at most half an hour.",
)
@list_option(
    "--allow-host",
    "hosts",
    metavar="NAME,...",
    help="Host names at which /join may be opened, besides IP addresses and localhost"
    " (repeatable).",
)
@option(
    "--places-per-address",
    type=Integer(0),
    default=40,
    help="Places at /join that may be taken from one IP address within an hour (0: any number).",
)
def serve_command(study: Path, db: str | None, host: str, port: int, **how: Any) -> None:
    """Serve STUDY to listeners in their browsers, until Ctrl-C is pressed.

    \b
    earwitness serve study.yaml
    earwitness study links study.yaml --base http://127.0.0.1:8000
    """
    names = ("root_path", "places", "outside_id", "resume", "clips", "idle_hours", "hosts")
    hosts = ",".join(how["hosts"]).split(",")
    how["hosts"] = tuple(host.strip().lower().rstrip(".") for host in hosts if host)
    settings = SiteSettings(*(how[name] for name in (*names, "places_per_address")))
    design, warnings = _check_study(study, audio=how["audio"])
    with warnings_as_notes():
        opened = Store.open(store_address(study, db), version=__version__, serving=True)
    with opened as store:
        site = make_site(study, store, settings, design)
        with open_socket(host, port) as listening:
            record_version(store, design.study, page_sound_names(design), study.parent)
            warnings += changed_audio_notes(store, design.study, study.parent)
            warnings += _encryption_warnings(listening, proxy=how["trust_proxy"])
            _print_addresses(site, study, db, listening)
            if (
                site.settings.open
                and not how["hosts"]
                and (how["trust_proxy"] or not is_loopback(listening))
            ):
                print_message(OTHER_HOSTS_NOTE)
            print_notes(map(printable, warnings), "warning")
            with suppress(KeyboardInterrupt, Termination):  # the server has shut down cleanly
                _run_server(site, listening, how["trust_proxy"])
    loss = f"{printable(store.loss)}." if store.loss else "All received answers are saved."
    print_message(f"Stopped. {loss}")


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
    address = f"{socket_address(listening)}{site.settings.root}"
    base = f"{link_address(listening)}{site.settings.root}"
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


def _run_server(site: Site, listening: socket.socket, trusted: str) -> None:
    if any(recording.hour_gap for recording in site.design.study.recordings):
        print_message("searching for the silences between hours")
    recordings = open_recordings(site)
    report_progress(recordings, lambda text: print_message(printable(text)))
    try:
        make_server(make_app(site, recordings), site.messages, trusted).run(sockets=[listening])
    finally:
        close_recordings(recordings)
