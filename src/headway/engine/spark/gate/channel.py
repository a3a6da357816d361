"""The line between the gate's reader process and the control object in the driver."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from headway.engine.spark.gate.offsets import GateOffset
from headway.engine.topics.port import Position


@dataclass(frozen=True, slots=True)
class Ask:
    """The gate to the driver: this has arrived; what may the next batch take?"""

    start: GateOffset
    reach: Position
    finished: bool


@dataclass(frozen=True, slots=True)
class WhenBegun:
    """The gate to the driver: when did the run begin? The reply is 0 while it has not."""


@dataclass(frozen=True, slots=True)
class Take:
    """The driver to the gate: start a batch of up to `rows` records by the decision in `end`."""

    end: GateOffset
    rows: int | None


@dataclass(frozen=True, slots=True)
class Hold:
    """The driver to the gate: offer nothing for a while."""

    for_s: float


Reply = Take | Hold


@dataclass(frozen=True, slots=True)
class Address:
    """Where the driver listens, and the key that keeps others out."""

    path: str
    key: bytes


class Caller:
    """The gate's end of the line; connects when first used and stays connected."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._line: Connection[Any, Any] | None = None

    def call(self, message: Any) -> Any:
        """Send a message and wait for the reply."""
        if self._line is None:
            self._line = Client(self._address.path, authkey=self._address.key)
        self._line.send(message)
        return self._line.recv()


class Answerer:
    """The driver's end of the line: answers each message with a function, until closed."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self._answer = answer
        key = secrets.token_bytes(32)
        self._listener = Listener(family="AF_UNIX", authkey=key)
        self.address = Address(str(self._listener.address), key)
        self._closed = threading.Event()
        threading.Thread(target=self._accept, name="headway-gate", daemon=True).start()

    def close(self) -> None:
        """Stop answering and remove the socket."""
        self._closed.set()
        self._listener.close()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                line = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: Connection[Any, Any]) -> None:
        with line:
            while not self._closed.is_set():
                try:
                    line.send(self._answer(line.recv()))
                except (EOFError, OSError):
                    return
