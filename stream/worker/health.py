"""/healthz and /metrics, on a server of their own in the worker's event loop: where it stalls, so do they."""

from collections.abc import Iterator
from time import monotonic, process_time

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from stream.worker.app import Worker


class WorkerMetrics(Collector):
    """The worker's counts as Prometheus metrics; computed when asked."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    def collect(self) -> Iterator[Metric]:
        """All metrics."""
        counts = self.worker.counts
        for name, value, what in (
            ("judged", counts.judged, "Events taken in and judged."),
            ("skipped", counts.skipped, "Records that the state had covered already."),
            ("dead_letters", counts.dead_letters, "Records that could not be read."),
            ("forwarded", counts.forwarded, "Records sent on to their table's own partition."),
            (
                "unknown_fields",
                self.worker.records.unknown_fields,
                "Fields of events that are not known, ignored.",
            ),
            ("withdrawn", counts.withdrawn, "Verdicts published and taken back."),
            ("evidence", counts.evidence, "Evidence records written."),
            ("snapshots", counts.snapshots, "Records written to the changelog."),
            ("snapshot_bytes", counts.snapshot_bytes, "Bytes written to the changelog."),
            ("takes", counts.takes, "Partitions taken over."),
            ("cpu_seconds", process_time(), "CPU time of the process, all threads."),
        ):
            yield CounterMetricFamily(f"misdeal_{name}", what, value=value)
        tables = [d.table for o in self.worker.owners.values() for d in o.dockets.values()]
        yield CounterMetricFamily(
            "misdeal_too_late", "Events that came after their round had left the kept history.",
            value=sum(t.counts.too_late for t in tables),
        )  # fmt: skip
        published = CounterMetricFamily("misdeal_published", "Revisions published.", labels=["kind", "status"])
        for labels, value in sorted(counts.published.items()):
            published.add_metric(labels, value)
        yield published
        yield GaugeMetricFamily("misdeal_partitions", "Partitions owned.", value=len(self.worker.owners))
        yield GaugeMetricFamily("misdeal_tables", "Tables followed.", value=len(tables))
        held = sum(len(d.pending) for o in self.worker.owners.values() for d in o.dockets.values())
        yield GaugeMetricFamily("misdeal_on_hold", "Changes of verdicts that wait to be published.", value=held)


async def serve(worker: Worker, host: str, port: int) -> web.AppRunner:
    """Serve both; raises OSError where the port is taken."""
    registry = CollectorRegistry()
    registry.register(WorkerMetrics(worker))

    async def healthz(_request: web.Request) -> web.Response:
        idle = monotonic() - worker.worked
        healthy = worker.healthy()
        body = {"healthy": healthy, "partitions": sorted(worker.owners), "idle_seconds": round(idle, 1)}
        return web.json_response(body, status=200 if healthy else 503)

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry), content_type="text/plain")

    app = web.Application()
    app.add_routes([web.get("/healthz", healthz), web.get("/metrics", metrics)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    return runner
