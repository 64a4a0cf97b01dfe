"""A stand-in for Kubernetes' API on loopback: a pod that Spark creates runs as a process of this machine.

It knows the requests of Spark's driver: pods and config maps are created, read, changed, listed by label, and deleted.
What a real cluster adds (scheduling, images, networks, rights) is not here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

ENTRYPOINT = Path(__file__).parents[2] / "deploy" / "spark" / "entrypoint"
_PATH = re.compile(r"/api/v1/namespaces/([^/]+)/([a-z]+)(?:/([^/]+))?(?:/status)?$")
_VERSIONS = {"pods": "Pod", "configmaps": "ConfigMap"}

Resource = dict[str, Any]


class Kubernetes(NamedTuple):
    """A running stand-in.

    Attributes:
        url: Its address, as Spark's ``k8s://`` master has it after the scheme.
        pods: The pods that were created, also those that are gone.
        requests: The verb and the kind of resource of each request, as a role has them.
    """

    url: str
    pods: list[Resource]
    requests: set[tuple[str, str]]


class Cluster:
    """The resources, and the processes of the pods."""

    def __init__(self, folder: Path, image: Mapping[str, str]) -> None:
        self.folder = folder
        self.created: list[Resource] = []
        self.requests: set[tuple[str, str]] = set()
        self._image = image
        self._resources: dict[tuple[str, str], Resource] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def answer(self, method: str, address: str, body: Any) -> tuple[HTTPStatus, Resource]:
        """Return the status and the body of an answer."""
        parts = urlsplit(address)
        match = _PATH.match(parts.path)
        if match is None:
            return HTTPStatus.NOT_FOUND, {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}
        namespace, kind, name = match[1], match[2], match[3] or ""
        selector = parse_qs(parts.query).get("labelSelector", [""])[0]
        self.requests.add((_verb(method, name), kind))
        with self._lock:
            if method == "POST":
                return HTTPStatus.CREATED, self._create(namespace, kind, body)
            if not name:
                found = [one for key, one in self._resources.items() if key[0] == kind and _matches(one, selector)]
                if method == "DELETE":
                    found = [self._delete(kind, one["metadata"]["name"]) for one in found]
                items = [self._now(kind, one) for one in found]
                kinds = f"{_VERSIONS.get(kind, 'Object')}List"
                return HTTPStatus.OK, {"kind": kinds, "apiVersion": "v1", "metadata": {}, "items": items}
            if (kind, name) not in self._resources:
                return HTTPStatus.NOT_FOUND, {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}
            if method == "DELETE":
                return HTTPStatus.OK, self._delete(kind, name)
            if method in ("PATCH", "PUT") and isinstance(body, dict):
                self._resources[kind, name]["metadata"].update(body.get("metadata", {}))
            return HTTPStatus.OK, self._now(kind, self._resources[kind, name])

    def close(self) -> None:
        """End the processes of all pods."""
        for process in self._processes.values():
            process.terminate()
            process.wait(60)

    def _create(self, namespace: str, kind: str, body: Resource) -> Resource:
        metadata = {"namespace": namespace, "uid": str(uuid.uuid4()), "resourceVersion": "1", **body["metadata"]}
        resource = {**body, "metadata": metadata}
        if kind == "pods":
            resource["status"] = {"phase": "Running", "podIP": "127.0.0.1"}
            self.created.append(resource)
            self._start(resource)
        self._resources[kind, metadata["name"]] = resource
        return resource

    def _start(self, pod: Resource) -> None:
        name = pod["metadata"]["name"]
        fields = {"status.podIP": "127.0.0.1", "metadata.name": name}
        (container,) = pod["spec"]["containers"]
        variables = {
            one["name"]: one.get("value")
            or fields.get(one.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath"), "")
            for one in container["env"]
        }
        command = ["sh", str(ENTRYPOINT), *container["args"]]
        with (self.folder / f"{name}.out").open("wb") as sink:
            environment = {"PATH": os.environ["PATH"], **self._image, **variables}
            self._processes[name] = subprocess.Popen(
                command, env=environment, cwd=self.folder, stdout=sink, stderr=subprocess.STDOUT
            )

    def _now(self, kind: str, resource: Resource) -> Resource:
        process = self._processes.get(resource["metadata"]["name"]) if kind == "pods" else None
        if process is not None and process.poll() is not None:
            resource["status"]["phase"] = "Failed" if process.returncode else "Succeeded"
        return resource

    def _delete(self, kind: str, name: str) -> Resource:
        if process := self._processes.get(name):
            process.terminate()
        return self._resources.pop((kind, name))


def _verb(method: str, name: str) -> str:
    """Return the verb of a request, as a role has it."""
    if name:
        return {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[method]
    return {"GET": "list", "POST": "create", "DELETE": "deletecollection"}[method]


def _matches(resource: Resource, selector: str) -> bool:
    labels = resource["metadata"].get("labels", {})
    pairs = (term.partition("=") for term in selector.split(",") if term)
    return all((labels.get(name.rstrip("!")) == value) != name.endswith("!") for name, _, value in pairs)


@contextmanager
def running_kubernetes(folder: Path, image: Mapping[str, str]) -> Iterator[Kubernetes]:
    """Run a stand-in; ``image`` are the variables that the pods' image sets."""
    cluster = Cluster(folder, image)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            text = self.rfile.read(length)
            status, body = cluster.answer(self.command, self.path, json.loads(text) if text else {})
            answer = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - the library's names

        def log_message(self, format: str, *args: object) -> None:
            """Keep the output of the test readable."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield Kubernetes(f"http://127.0.0.1:{server.server_address[1]}", cluster.created, cluster.requests)
        finally:
            cluster.close()
            server.shutdown()
            thread.join()
