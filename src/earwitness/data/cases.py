"""Many cases, in whatever way a task keeps them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from earwitness.data.case import Case

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray


class Cases(Sequence[Case], ABC):
    """A sequence of cases that can be chosen from and turned round without making objects."""

    __slots__ = ()
    items: Sequence[str]
    systems: Sequence[str]

    @property
    @abstractmethod
    def counts(self) -> NDArray[Any]:
        """How many references every case has."""

    @property
    @abstractmethod
    def several(self) -> bool:
        """Whether there are cases with more than one reference, or were before some were taken."""

    @abstractmethod
    def take(self, index: NDArray[Any]) -> Self:
        """The cases of ``index``, in its order."""

    @abstractmethod
    def each(self) -> Self:
        """A case for every reference."""

    @abstractmethod
    def keep(self, rows: NDArray[Any], counts: NDArray[Any]) -> Self:
        """The same cases with some of their references: these rows of all, so many of a case."""

    @abstractmethod
    def people(self) -> tuple[Self, NDArray[Any]]:
        """Every reference in turn as the output, against the other references of its case.

        Only cases with two references and more are taken; the second answer has, for every new
        case, the row of its output among the references.
        """
