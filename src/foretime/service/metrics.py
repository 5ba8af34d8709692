"""What the service counts, for Prometheus."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = (1, 2, 4, 8, 16, 32, 64)


class ServiceMetrics:
    """The counters of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        own: dict[str, Any] = {"registry": self.registry}
        self.requests = Counter("foretime_requests", "Requests answered.", ["route", "method", "status"], **own)
        self.request_seconds = Histogram(
            "foretime_request_seconds", "From the request to its last byte.", ["route"], buckets=SECONDS, **own
        )
        self.under_way = Gauge("foretime_requests_under_way", "Requests that are being answered.", **own)
        self.refused = Counter("foretime_refused", "Requests and connections refused.", ["reason"], **own)
        self.waiting = Gauge("foretime_jobs_waiting", "Jobs that wait for a lane.", ["lane"], **own)
        self.wait_seconds = Histogram(
            "foretime_job_wait_seconds", "How long jobs wait for their lane.", ["lane"], buckets=SECONDS, **own
        )
        self.work_seconds = Histogram(
            "foretime_work_seconds", "How long a lane works on what it has gathered.", ["kind"], buckets=SECONDS, **own
        )
        self.batch = Histogram("foretime_batch_questions", "Questions asked together.", buckets=SIZES, **own)
        self.runs = Gauge("foretime_runs", "Runs that are served.", **own)

    def text(self) -> bytes:
        """Return all counters in the text format of Prometheus."""
        return generate_latest(self.registry)
