# SPDX-License-Identifier: Apache-2.0
"""Results into an index of OpenSearch or Elasticsearch, by its bulk interface. A document has the same identifier
whenever it is sent: sending again replaces it."""

from __future__ import annotations

import hashlib
import json
import os
import time
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import urllib3
import urllib3.exceptions

from netmodel_lab.problems import EnvironmentProblem, UsageProblem

Json = dict[str, Any]
CREDENTIALS = "NETMODEL_SEARCH_CREDENTIALS"  # USER:PASSWORD, from the environment
_REQUEST_S = 30.0
_PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0)  # before each try after the first
_AT_ONCE = 500  # documents
_PASSING = (429, 500, 502, 503, 504)
_OF_A_DOCUMENT = ("driver", "profile", "duration", "parallelism", "messageSize", "burst", "virt")
_OURS = ("test", "network", "on", "family", "place", "messageReadSize", "model")


@dataclass(frozen=True)
class Target:
    url: str
    index: str
    credentials: str | None  # USER:PASSWORD
    ca: str | None  # a file with the authorities that are trusted

    @classmethod
    def of(cls, url: str, index: str, credentials_file: str | None, ca: str | None) -> Target:
        """Raises UsageProblem with all mistakes; none of them shows what is secret."""
        wrong = []
        parts = parts_of(url)
        if parts is None:
            wrong.append("--search: must be http://HOST:PORT or https://HOST:PORT")
        elif parts.username or parts.password:
            wrong.append(
                f"--search: a command line is no place for a password: --search-credentials FILE, or ${CREDENTIALS}"
            )
        if not index or index != index.lower() or index[0] in "-_+" or any(one in index for one in '\\/*?"<>| ,#:'):
            wrong.append(f'--index "{index}": must be in small letters, without spaces and any of \\/*?"<>|,#:')
        credentials = os.environ.get(CREDENTIALS)
        for flag, name in (("--search-credentials", credentials_file), ("--search-ca", ca)):
            text = text_of(flag, name, wrong)
            credentials = text if text is not None and flag == "--search-credentials" else credentials
        if credentials is not None and ":" not in credentials:
            wrong.append("the credentials must be USER:PASSWORD")
        if wrong:
            raise UsageProblem(wrong)
        return cls(url.rstrip("/"), index, credentials, ca)

    @property
    def is_open(self) -> bool:
        """Whether others on the way can read the password."""
        return bool(self.credentials) and self.url.startswith("http:")


def parts_of(url: str) -> SplitResult | None:
    """None: it is no address of a server."""
    try:
        parts = urlsplit(url)
        return parts if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 else None
    except ValueError:
        return None


def text_of(flag: str, name: str | None, wrong: list[str]) -> str | None:
    """Of the file that an option names, if it is given. wrong has why it cannot be read, and none of the text."""
    try:
        return Path(name).read_text(encoding="utf-8").strip() if name else None
    except (OSError, UnicodeDecodeError) as error:
        wrong.append(f"{flag} {name}: {getattr(error, 'strerror', None) or 'is no text'}")
        return None


def identifier(document: Json) -> str:
    """Of one cell of one run, however often it is sent and whatever has been added to it."""
    parts = [document["uuid"], *(document[name] for name in _OF_A_DOCUMENT)]
    parts += [document["netmodel"][name] for name in _OURS]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class Index:
    def __init__(self, target: Target, sleep: Callable[[float], None] = time.sleep) -> None:
        self._target, self._sleep = target, sleep
        self._pool = urllib3.PoolManager(cert_reqs="CERT_REQUIRED", ca_certs=target.ca)

    def check(self) -> None:
        """Before anything is measured: whether it answers, and lets this user in."""
        status, data = self._request("HEAD", f"/{self._target.index}", None)
        if status not in (200, 404):
            raise self._problem(f"answers {status}{_reason(data)}")

    def send(self, documents: Sequence[Json]) -> int:
        """How many it has taken, which is all of them. Raises EnvironmentProblem otherwise."""
        for first in range(0, len(documents), _AT_ONCE):
            left = {identifier(one): _lean(one) for one in documents[first : first + _AT_ONCE]}
            for pause in (*_PAUSES_S, None):
                count = len(left)
                left, refused = self._bulk(left)
                if refused:
                    raise self._problem(f"has refused documents, {len(refused)} of {count}: {refused[0]}")
                if not left:
                    break
                if pause is None:
                    raise self._problem(f"has too much to do; documents that are not in it: {len(left)}")
                self._sleep(pause)
        return len(documents)

    def _bulk(self, documents: dict[str, Json]) -> tuple[dict[str, Json], list[str]]:
        """What is to be sent again, and why others were refused."""
        lines = []
        for name, document in documents.items():
            lines += [json.dumps({"index": {"_id": name}}), json.dumps(document)]
        status, data = self._request("POST", f"/{self._target.index}/_bulk", "\n".join(lines) + "\n")
        if status >= 300:
            raise self._problem(f"answers {status}{_reason(data)}")
        try:
            items = [one["index"] for one in json.loads(data)["items"]]
            answers = {str(one["_id"]): (int(one["status"]), one.get("error")) for one in items}
        except (ValueError, KeyError, TypeError):
            raise self._problem("is no OpenSearch: its answer has no items") from None
        again, refused = {}, []
        for name, document in documents.items():
            code, error = answers.get(name, (429, None))
            if code in _PASSING:
                again[name] = document
            elif code >= 300:
                refused.append(str(error.get("reason") if isinstance(error, dict) else error or code))
        return again, refused

    def _request(self, method: str, path: str, body: str | None) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/x-ndjson"} if body else {}
        if self._target.credentials:
            headers["Authorization"] = f"Basic {b64encode(self._target.credentials.encode()).decode()}"
        for pause in (*_PAUSES_S, None):
            try:
                answer = self._pool.request(
                    method,
                    self._target.url + path,
                    body=body.encode() if body else None,
                    headers=headers,
                    retries=False,
                    timeout=_REQUEST_S,
                )
            except urllib3.exceptions.SSLError as error:
                raise self._problem(f"is not trusted: {error}") from None
            except urllib3.exceptions.HTTPError as error:
                if pause is None:
                    raise self._problem(f"does not answer: {error}") from None
            else:
                if answer.status not in _PASSING or pause is None:
                    return answer.status, answer.data
            self._sleep(pause)
        raise AssertionError

    def _problem(self, text: str) -> EnvironmentProblem:
        return EnvironmentProblem([f"{self._target.url} {text}"])


def _lean(document: Json) -> Json:
    """Without the rows of its samples, whose hundreds of names an index would have a field for each."""
    ours = {name: value for name, value in document["netmodel"].items() if name != "sampleRows"}
    return {**document, "netmodel": ours}


def _reason(data: bytes) -> str:
    try:
        error = json.loads(data)["error"]
        return f": {error['reason'] if isinstance(error, dict) else error}"
    except (ValueError, KeyError, TypeError):
        return ""
