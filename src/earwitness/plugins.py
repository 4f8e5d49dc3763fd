"""Tables of entries by name: built-in entries and those of plug-ins (entry points)."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, ValuesView
from contextlib import suppress
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from earwitness.errors import PluginError

METRIC_GROUP = "earwitness.metrics"
RESULT_GROUP = "earwitness.results"
TASK_GROUP = "earwitness.tasks"
TRIAL_GROUP = "earwitness.trials"
T = TypeVar("T")


class LazyTable(Mapping[str, T]):
    """Entries by name; an entry is loaded when it is accessed."""

    def __init__(self, names: Iterable[str], load: Callable[[str], T]) -> None:
        self._names, self._load = dict.fromkeys(names), cache(load)

    def __getitem__(self, name: str) -> T:
        if name not in self._names:
            raise KeyError(name)
        return self._load(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class PluginTable(Mapping[str, T]):
    """Entries by name; a plug-in is imported when it is accessed by name.

    ``check`` returns what is wrong with the object of an entry point, or an empty text. Listing the
    names imports nothing, and raises PluginError if a plug-in has the name of a built-in entry or
    of another plug-in. ``values`` and ``items`` leave out plug-ins that cannot be imported; only
    accessing one of these by name raises PluginError.
    """

    def __init__(
        self, group: str, built_in: Mapping[str, T], check: Callable[[str, Any], str]
    ) -> None:
        self.group, self.built_in = group, built_in
        self._check = check
        self.loaded: dict[str, T] = {}  # plug-ins by name

    @cached_property
    def plugins(self) -> dict[str, EntryPoint]:
        """Entry points by name, sorted by name."""
        by_name: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group=self.group), key=lambda point: point.name):
            other = by_name.get(point.name)
            if other is not None and package(other) == package(point) and other == point:
                continue  # the same package is on the path twice
            if other is not None:
                message = f'package "{package(other)}" also provides "{point.name}" in {self.group}'
                raise PluginError(package(point), f"{message} — uninstall one of them")
            if point.name in self.built_in:
                message = f'"{point.name}" in {self.group} has the same name as a built-in entry'
                raise PluginError(package(point), f"{message} — rename it")
            by_name[point.name] = point
        return by_name

    def __getitem__(self, name: str | None) -> T:
        if name is None:
            raise KeyError(name)
        if name in self.built_in:
            return self.built_in[name]
        if name not in self.loaded:
            self.loaded[name] = self._load(self.plugins[name])
        return self.loaded[name]

    def _load(self, point: EntryPoint) -> T:
        try:
            loaded = point.load()
        except Exception as error:
            message = f'"{point.name}" in {self.group} ({point.value}) cannot be imported'
            reason = f"{type(error).__name__}: {error}"
            raise PluginError(package(point), f"{message}: {reason}") from error
        if wrong := self._check(point.name, loaded):
            message = f'"{point.name}" in {self.group} ({point.value}) {wrong}'
            raise PluginError(package(point), message)
        entry: T = loaded
        return entry

    def __iter__(self) -> Iterator[str]:
        yield from self.built_in
        yield from self.plugins

    def __len__(self) -> int:
        return len(self.built_in) + len(self.plugins)

    def __contains__(self, name: object) -> bool:
        is_name = isinstance(name, str)  # not a list of a file that is not checked yet
        return is_name and (name in self.built_in or name in self.plugins)

    def usable(self) -> dict[str, T]:
        """Return built-in entries, and plug-ins that can be imported."""
        return {**self.built_in, **self.usable_plugins()}

    def usable_plugins(self) -> dict[str, T]:
        """Return plug-ins that can be imported."""
        entries = dict[str, T]()
        for name in self.plugins:
            with suppress(PluginError):
                entries[name] = self[name]
        return entries

    def values(self) -> ValuesView[T]:
        return self.usable().values()

    def items(self) -> ItemsView[str, T]:
        return self.usable().items()


def package(point: EntryPoint) -> str:
    """Return the name of the package of an entry point."""
    return point.dist.name if point.dist is not None else point.value.partition(":")[0]
