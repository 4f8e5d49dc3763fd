"""Tables by name: built-in entries, and those that installed packages add by entry points."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from earwitness.errors import PluginError

METRIC_GROUP = "earwitness.metrics"
TASK_GROUP = "earwitness.tasks"
TRIAL_GROUP = "earwitness.trials"
T = TypeVar("T")


class PluginTable(Mapping[str, T]):
    """Entries by name; those of plug-ins are imported when they are asked for by name.

    ``check`` says what is wrong with the object of an entry point, or nothing. Names are known
    without any import. A plug-in with the name of a built-in entry, or of another plug-in, is
    refused as soon as names are listed. Going through ``values`` or ``items`` leaves out plug-ins
    that cannot be imported: only what asks for one of these by name fails.
    """

    def __init__(
        self, group: str, built_in: Mapping[str, T], check: Callable[[str, Any], str]
    ) -> None:
        self.group, self.built_in = group, dict(built_in)
        self._check = check
        self._loaded: dict[str, T] = {}

    @cached_property
    def plugins(self) -> dict[str, EntryPoint]:
        """Entry points by name, in the order of names."""
        by_name: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group=self.group), key=lambda point: point.name):
            other = by_name.get(point.name)
            if other is not None and package(other) == package(point) and other == point:
                continue  # the same package twice on the path
            if other is not None:
                message = f'package "{package(other)}" brings "{point.name}" of {self.group}, too'
                raise PluginError(package(point), f"{message} — uninstall one of them")
            if point.name in self.built_in:
                message = f'"{point.name}" of {self.group} has the name of a built-in one'
                raise PluginError(package(point), f"{message} — give it another name")
            by_name[point.name] = point
        return by_name

    def __getitem__(self, name: str | None) -> T:
        if name is None:
            raise KeyError(name)
        if name in self.built_in:
            return self.built_in[name]
        if name not in self._loaded:
            self._loaded[name] = self._load(self.plugins[name])
        return self._loaded[name]

    def _load(self, point: EntryPoint) -> T:
        try:
            loaded = point.load()
        except Exception as error:
            message = f'"{point.name}" of {self.group} ({point.value}) cannot be imported'
            reason = f"{type(error).__name__}: {error}"
            raise PluginError(package(point), f"{message}: {reason}") from error
        if wrong := self._check(point.name, loaded):
            message = f'"{point.name}" of {self.group} ({point.value}) {wrong}'
            raise PluginError(package(point), message)
        entry: T = loaded
        return entry

    def __iter__(self) -> Iterator[str]:
        yield from self.built_in
        yield from self.plugins

    def __len__(self) -> int:
        return len(self.built_in) + len(self.plugins)

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or name in self.plugins

    def usable(self) -> dict[str, T]:
        """Built-in entries, and those of plug-ins that can be imported."""
        entries = dict(self.built_in)
        for name in self.plugins:
            try:
                entries[name] = self[name]
            except PluginError:
                continue
        return entries

    def values(self) -> ValuesView[T]:
        return self.usable().values()

    def items(self) -> ItemsView[str, T]:
        return self.usable().items()


def package(point: EntryPoint) -> str:
    """The name of the package that an entry point belongs to."""
    return point.dist.name if point.dist is not None else point.value.partition(":")[0]
