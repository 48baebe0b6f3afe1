"""What is closed at the end of a `with` statement."""
from __future__ import annotations

from types import TracebackType
from typing import Optional


class Closing:
    """Closes itself there, also after an exception."""

    def close(self) -> None:
        raise NotImplementedError

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()
