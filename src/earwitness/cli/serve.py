"""The command serve: a study in listeners' browsers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import click

from earwitness.cli.main import Termination
from earwitness.errors import UsageError
from earwitness.store.records import ParticipationState
from earwitness.store.store import Store
from earwitness.studies.admin import (
    judges_captions,
    missing_listener_notes,
    other_form_notes,
    store_address,
)
from earwitness.version import __version__
from earwitness.web.app import make_app
from earwitness.web.site import RESUME_POLICIES, Site, SiteSettings, make_site

SOCKET_BACKLOG = 1024  # connections that wait to be accepted


@click.command("serve")
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--db",
    metavar="FILE|URL",
    help="Database (SQLite file or postgresql://...).  [default: study.db next to STUDY]",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on (0.0.0.0: all interfaces).",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="INTEGER",
    default=8000,
    show_default=True,
    help="Port to listen on (0: any free port).",
)
@click.option(
    "--root-path",
    default="",
    metavar="PATH",
    help="Path under which a proxy serves the study, e.g. /test",
)
@click.option(
    "--trust-proxy",
    default="",
    metavar="IP,...",
    help="Proxy addresses whose X-Forwarded-* headers are trusted.",
)
@click.option(
    "--open",
    "places",
    type=click.IntRange(0),
    metavar="INTEGER",
    default=0,
    show_default=True,
    help="Number of places that anyone may claim at /join.",
)
@click.option(
    "--outside-id",
    default="PROLIFIC_PID",
    show_default=True,
    metavar="NAME",
    help="Query parameter of /join with the participant ID of a recruitment service.",
)
@click.option(
    "--resume",
    type=click.Choice(RESUME_POLICIES),
    default=RESUME_POLICIES[0],
    show_default=True,
    help="When a listener returns mid-session: resume, restart the session, or block.",
)
@click.option(
    "--clips",
    default="",
    metavar="URL",
    help="Address of clips for links in workbooks, e.g. https://example.org/{file}",
)
def serve_command(study: Path, db: str | None, host: str, port: int, **how: Any) -> None:
    """Serve STUDY to listeners in their browsers, until Ctrl-C is pressed.

    \b
    earwitness serve study.yaml
    earwitness study links study.yaml --base http://127.0.0.1:8000
    """
    names = ("root_path", "places", "outside_id", "resume", "clips")
    settings = SiteSettings(*(how[name] for name in names))
    with Store.open(store_address(study, db), version=__version__) as store:
        site = make_site(study, store, settings)
        with _open_socket(host, port) as listening:
            _print_addresses(site, study, db, listening)
            with suppress(KeyboardInterrupt, Termination):  # the server has shut down cleanly
                _run_server(site, listening, how["trust_proxy"])
    click.echo("Stopped. All received answers are saved.", err=True)


def _open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, with TCP set explicitly to avoid delayed replies."""
    socket_type = {"type": socket.SOCK_STREAM, "proto": socket.IPPROTO_TCP}
    try:
        family, _, _, _, socket_address = socket.getaddrinfo(host, port, **socket_type)[0]
        with ExitStack() as stack:
            listening = stack.enter_context(socket.socket(family, **socket_type))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(socket_address)
            listening.listen(SOCKET_BACKLOG)
            stack.pop_all()
        return listening
    except OSError as error:
        reason = error.strerror or error
        message = f"{host}:{port}: cannot listen on this address: {reason}"
        raise UsageError(f"{message} — choose another --host or --port") from None


def _print_addresses(site: Site, study: Path, db: str | None, listening: socket.socket) -> None:
    host, port = listening.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}{site.settings.root}"
    click.echo(f"serving {site.design.study.title} at {address}/ (press Ctrl-C to stop)", err=True)
    db_option = "" if db is None else " --db …" if "://" in db else f" --db {db}"
    click.echo(f"links: earwitness study links {study}{db_option} --base {address}", err=True)
    for note in _site_notes(site):
        click.echo(f"note: {note}", err=True)
    if site.settings.open:
        _print_open_link(site, f"{address}/join", f"earwitness study links {study}{db_option}")


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
    click.echo(f"open link: {address} (free places: {free_places})", err=True)
    open_numbers = [plan.listener for plan in site.design.plans][-open_places:]
    listeners = [status.listener for status in site.store.status(site.digest)]
    states = {listener.number: listener.state for listener in listeners}
    invited = sum(states[number] == ParticipationState.INVITED for number in open_numbers)
    if invited:
        message = f"{invited} of {open_places} open places have personal links"
        remedy = f"revoke unused links with {links} --take-back {invited}, then serve again"
        click.echo(f"open link: {message} — {remedy}", err=True)
    elif not free_places:
        message = "all places are taken, and further visitors are turned away"
        click.echo(f"open link: {message} — increase --open", err=True)


def _run_server(site: Site, listening: socket.socket, trusted: str) -> None:
    import uvicorn

    config = uvicorn.Config(
        make_app(site),
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=bool(trusted),
        forwarded_allow_ips=trusted or None,
        timeout_graceful_shutdown=5,
        lifespan="off",
    )
    uvicorn.Server(config).run(sockets=[listening])
