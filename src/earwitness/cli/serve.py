"""The command serve."""

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

SOCKET_BACKLOG = 1024  # connections that are not taken yet


@click.command("serve")
@click.argument("study", type=click.Path(path_type=Path))
@click.option("--db", help="A file of SQLite, or postgresql://…  [default: study.db beside STUDY]")
@click.option("--host", default="127.0.0.1", show_default=True, help="Who can reach it.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True)
@click.option("--root-path", default="", help="The path below which a proxy serves it: /x")
@click.option("--trust-proxy", default="", metavar="IPS", help="Whose forwarded headers hold.")
@click.option(
    "--open", "places", type=click.IntRange(0), default=0, help="So many places at /join."
)
@click.option(
    "--outside-id",
    default="PROLIFIC_PID",
    show_default=True,
    help="The parameter of /join in which another service names a person.",
)
@click.option(
    "--resume",
    type=click.Choice(RESUME_POLICIES),
    default=RESUME_POLICIES[0],
    show_default=True,
    help="Who comes again in the midst of a session goes on, starts it again, or is blocked.",
)
@click.option("--clips", default="", help="Where workbooks find clips: https://example.org/{file}")
def serve_command(study: Path, db: str | None, host: str, port: int, **how: Any) -> None:
    """Serve STUDY to listeners, until Ctrl-C.

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
            with suppress(KeyboardInterrupt, Termination):  # it has ended in good order then
                _run_server(site, listening, how["trust_proxy"])
    click.echo("stopped; all that was acknowledged is stored", err=True)


def _open_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; known to be of TCP, as else replies wait for one another."""
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
        raise UsageError(f"{host}:{port}: cannot serve there: {error.strerror or error}") from None


def _print_addresses(site: Site, study: Path, db: str | None, listening: socket.socket) -> None:
    host, port = listening.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}{site.settings.root}"
    click.echo(f"serving {site.design.study.title} at {address}/ (Ctrl-C stops)", err=True)
    db_option = "" if db is None else " --db …" if "://" in db else f" --db {db}"
    click.echo(f"links: earwitness study links {study}{db_option} --base {address}", err=True)
    for note in _site_notes(site):
        click.echo(f"note: {note}", err=True)
    if site.settings.open:
        _print_open_link(site, f"{address}/join", f"earwitness study links {study}{db_option}")


def _site_notes(site: Site) -> Iterator[str]:
    """What is not as it should be, and what to do."""
    plan = site.design.study
    yield from other_form_notes(site.store, plan)
    yield from missing_listener_notes(site.store, plan, site.numbers)
    if site.served_sounds.warning:
        yield site.served_sounds.warning
    if judges_captions(plan) and site.no_workbooks:
        yield f"raters cannot work in workbooks: {site.no_workbooks}"


def _print_open_link(site: Site, address: str, links: str) -> None:
    """Where the open link is, how many may come by it, and what to do if nobody can."""
    free_places = site.store.count_free_places(site.digest, site.quota)
    open_places = site.settings.open
    click.echo(f"open link: {address} (places free: {free_places})", err=True)
    open_numbers = [plan.listener for plan in site.design.plans][-open_places:]
    listeners = [status.listener for status in site.store.status(site.digest)]
    states = {listener.number: listener.state for listener in listeners}
    invited = sum(states[number] == ParticipationState.INVITED for number in open_numbers)
    if invited:
        message = f"{invited} of the {open_places} open places have links of their own"
        remedy = f"{links} --take-back {invited} takes back those unused; then serve again"
        click.echo(f"open link: {message} — {remedy}", err=True)
    elif not free_places:
        message = "all places are taken, and whoever comes is told so"
        click.echo(f"open link: {message} — a larger --open may have more", err=True)


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
