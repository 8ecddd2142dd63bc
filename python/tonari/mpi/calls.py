# SPDX-License-Identifier: BSD-3-Clause
"""What all collective calls share: info keys, and mistakes that only one rank sees.

Such a mistake must not keep the other ranks waiting. So the rank takes part all the same, with an
argument that the library refuses on all ranks, and tells the library why (tonari_refuse).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from mpi4py import MPI

from tonari.errors import ARGUMENT, Error
from tonari.mpi.library import handle_of, refuse
from tonari.mpi.request import collected

Info = Mapping[str, Any] | MPI.Info | None
Made = TypeVar("Made")
REFUSED = "tonari_no_mapping"  # a key that the library does not know, and refuses on all ranks


@contextmanager
def info_handle(info: Info) -> Iterator[int]:
    """The handle of an info object, or of one made of a mapping for the time of a call."""
    if info is None or isinstance(info, MPI.Info):
        yield handle_of(MPI.INFO_NULL if info is None else info)
        return
    words, complain = together(lambda: _words(info), {REFUSED: "1"})
    made = MPI.Info.Create(words)
    try:
        with complaining(complain):
            yield handle_of(made)
    finally:
        made.Free()


def _words(info: Mapping[str, Any]) -> dict[str, str]:
    if not isinstance(info, Mapping):
        raise Error(f"info is a {type(info).__name__}; it must be a mapping or MPI.Info", ARGUMENT)
    return {key: _word(value) for key, value in info.items()}


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def together(read: Callable[[], Made], refused: Made) -> tuple[Made, Callable[[], None]]:
    """What read() returns, and what is to be called after the collective call. Where it fails,
    these are arguments that the library refuses, and the mistake."""
    try:
        return read(), _nothing
    except Error as error:
        mistake = error
    except Exception as error:  # of whatever kind: the other ranks wait for this one
        mistake = Error(str(error) or type(error).__name__, ARGUMENT)

    def complain() -> None:
        raise mistake from None

    return refused, complain


def _nothing() -> None:
    return


@contextmanager
def complaining(complain: Callable[[], None]) -> Iterator[None]:
    """Around the collective call: all ranks get this rank's sentence, by the library. In a group
    they get it at the end."""
    try:
        complain()
    except Error as mistake:
        refuse(mistake.code, str(mistake))
    yield
    if not collected.lists:
        complain()
