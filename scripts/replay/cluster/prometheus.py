"""Queries a Prometheus server, and reads its answers strictly. Changes nothing on the server.

The form of the answers: https://prometheus.io/docs/prometheus/latest/querying/api/ (API v1).
"""

from __future__ import annotations

import base64
import http.client
import json
import math
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from replay.base.errors import ReplayError

TIMEOUT_SECONDS = 10.0
#: An answer to one of Replay's questions is smaller than this.
LARGEST_ANSWER_BYTES = 64 * 2**20


class PrometheusError(ReplayError):
    """A Prometheus server that cannot be asked, or an answer that is not what its API promises.

    `what` is for the person, and may name hosts and addresses. `reason` names none, so it may be recorded.
    """

    reason = "its answer was not understood"


class SilentServerError(PrometheusError):
    """The server could not be reached, or refused to answer."""

    reason = "it did not answer"


@dataclass(frozen=True)
class OsdCpuSeries:
    """How an exporter reports the CPU seconds of each OSD: a selector, and the label with the OSD's number.

    `pattern` is a regular expression whose only group is that number.
    """

    selector: str
    label: str
    pattern: str


@dataclass(frozen=True)
class PrometheusSource:
    """A server that a site's file names. `labels` select the cluster's own series if it watches several clusters."""

    url: str
    labels: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    password_file: Path | None = None
    ca_file: Path | None = None
    osd_cpu: OsdCpuSeries | None = None


@dataclass(frozen=True)
class Series:
    """A time series: its labels, and (seconds since 1970, value) in the order of time. Values are finite."""

    labels: Mapping[str, str]
    samples: tuple[tuple[float, float], ...]


class PrometheusClient:
    """Asks one server. Every method raises PrometheusError, which names the server and says what to do."""

    def __init__(self, source: PrometheusSource) -> None:
        self.source = source

    def now(self) -> float:
        """Return the server's clock, in seconds since 1970."""
        return scalar_in(self._ask("time()"))

    def instant(self, expression: str) -> list[Series]:
        """Return the newest value of each series."""
        return series_in(self._ask(expression), "vector")

    def scrapes(self, selector: str, *, end: float, seconds: int) -> list[Series]:
        """Return every sample of the `seconds` before `end` (server's clock), at the moments when it was scraped."""
        return series_in(self._ask(f"{selector}[{seconds}s]", time=f"{end:.3f}"), "matrix")

    def _ask(self, query: str, **more: str) -> bytes:
        address = self.source.url.rstrip("/") + "/api/v1/query"
        form = urllib.parse.urlencode({"query": query, **more}).encode()
        request = urllib.request.Request(address, data=form)
        for header, value in self._headers().items():
            # Another server, to which an answer may redirect, does not get the password.
            request.add_unredirected_header(header, value)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS, context=self._tls()) as answer:
                body = answer.read(LARGEST_ANSWER_BYTES + 1)
        except urllib.error.HTTPError as error:
            reason_given = _error_in(error.read(4096))
            hint = "check prometheus.user and password_file" if error.code in (401, 403) else "check its log"
            raise SilentServerError(
                f"answered {error.code} to {query!r}{': ' + reason_given if reason_given else ''}",
                where=self.source.url,
                next_step=hint,
            ) from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise SilentServerError(
                f"does not answer: {str(reason).strip()}",
                where=self.source.url,
                next_step="check that this machine can reach it, or remove prometheus from the site's file",
            ) from error
        if len(body) > LARGEST_ANSWER_BYTES:
            raise PrometheusError(
                f"answered {query!r} with more than {LARGEST_ANSWER_BYTES >> 20} MiB",
                where=self.source.url,
                next_step="set prometheus.labels to select only this cluster's series",
            )
        return body

    def _headers(self) -> dict[str, str]:
        if self.source.user is None or self.source.password_file is None:
            return {}
        try:
            password = self.source.password_file.read_text(encoding="utf-8").rstrip("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise PrometheusError(
                f"cannot read its password: {error}",
                where=self.source.password_file,
                next_step="correct prometheus.password_file in the site's file",
            ) from error
        token = base64.b64encode(f"{self.source.user}:{password}".encode()).decode()
        return {"Authorization": f"Basic {token}"}

    def _tls(self) -> ssl.SSLContext | None:
        if not self.source.url.startswith("https:"):
            return None
        return ssl.create_default_context(cafile=self.source.ca_file)


def selector(name: str, labels: Mapping[str, str]) -> str:
    """Return a selector of the series `name` with these labels, word for word."""
    inside = ",".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in sorted(labels.items()))
    return f"{name}{{{inside}}}" if inside else name


def series_in(body: bytes, kind: str) -> list[Series]:
    """Return the series of an answer; `kind` is `vector` or `matrix`.

    Values that are not finite are left out, and series without any other. Raises PrometheusError if the answer is
    an error, is cut short or of another kind.
    """
    series = []
    for entry in _result_in(body, kind):
        try:
            labels = {str(key): str(value) for key, value in entry["metric"].items()}
            pairs = entry["values"] if kind == "matrix" else [entry["value"]]
            samples = tuple(_sample(pair) for pair in pairs)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise PrometheusError(f"a series of its answer cannot be read: {str(entry)[:200]}") from error
        finite = tuple(sample for sample in samples if math.isfinite(sample[1]))
        if finite:
            series.append(Series(labels, finite))
    return series


def scalar_in(body: bytes) -> float:
    """Return the number in an answer of the kind `scalar`. Raises PrometheusError if there is none."""
    pair = _result_in(body, "scalar")
    try:
        value = _sample(pair)[1]
    except (TypeError, ValueError) as error:
        raise PrometheusError(f"a number of its answer cannot be read: {str(pair)[:200]}") from error
    if not math.isfinite(value):
        raise PrometheusError(f"a number of its answer is not finite: {str(pair)[:200]}")
    return value


def _sample(pair: Any) -> tuple[float, float]:
    moment, value = pair
    return float(moment), float(value)


def _result_in(body: bytes, kind: str) -> list[Any]:
    try:
        answer = json.loads(body)
        status, data = answer["status"], answer.get("data") or {}
        if status != "success":
            raise PrometheusError(f"answered an error: {answer.get('errorType')}: {answer.get('error')}")
        result_type, result = data["resultType"], data["result"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PrometheusError(
            f"its answer is not one of the API of Prometheus: {body[:200]!r}",
            next_step="set prometheus.url to the address of Prometheus itself, not of a dashboard",
        ) from error
    if result_type != kind or not isinstance(result, list):
        raise PrometheusError(f"its answer is a {result_type}, but a {kind} was requested")
    return result


def _error_in(body: bytes) -> str:
    """Return the error in an answer of the API; empty if it is another page."""
    try:
        return str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        return ""
