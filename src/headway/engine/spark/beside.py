"""What runs beside a flow as long as it runs: figures for Prometheus, a quarantine's topic."""

from __future__ import annotations

from collections.abc import Callable

from headway.clock import SystemClock
from headway.engine.kafka.set_aside import QuarantineTopic
from headway.engine.spark.folder import RunFolder
from headway.engine.spark.settings import Settings
from headway.measure.batches import BatchLine, BatchLog
from headway.measure.prometheus import Exporter


class Beside:
    """Helpers of one run, opened and closed with it."""

    def __init__(
        self, settings: Settings, folder: RunFolder, lines: Callable[[], list[BatchLine]]
    ) -> None:
        self.aside: QuarantineTopic | None = None
        self.exporter: Exporter | None = None
        if settings.metrics_port is not None:
            self.exporter = Exporter(settings.metrics_port, lines, BatchLog(folder.log).lines())
        if settings.quarantine is not None:
            place = folder.quarantine.resolve()
            try:
                self.aside = QuarantineTopic(place, settings.quarantine, folder.run, SystemClock())
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Let go of them."""
        for helper in (self.exporter, self.aside):
            if helper is not None:
                helper.close()
