"""Only ``actions`` changes a user's cluster: nothing else builds or sends a request that could.

What can change a cluster is every API that ``collect`` may not send. Guarded packages import neither its messages nor a
function of the client that sends it, and they name it in no request. In ``actions`` such a request needs a permit, and
the protocol alone makes permits.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.wire.api_keys import ApiKey

# Packages that are clients, servers, or formats by purpose. None of them is reached by a command that diagnoses.
BY_PURPOSE = {
    "eosctl/actions": "changes clusters, by the protocol",
    "eosctl/client": "the client: it offers every request",
    "eosctl/demo": "applications that a demonstration runs",
    "eosctl/lab": "makes faults on clusters of its own",
    "eosctl/lab/rehearsals": "people and applications in the stories of runbooks, on clusters of their own",
    "eosctl/sandbox": "the server: it answers such requests",
    "eosctl/lab/verify": "applications that write to topics of their own, which the user orders",
    "eosctl/wire": "the formats",
    "eosctl/lab/workloads": "applications that write",
}
# Commands whose client may send more than reads: what they run is an attempt, or a package of the list above.
UNLIMITED_CLIENTS = {
    "eosctl/services/calibrate_capacity.py": "calibration writes with eosctl.lab",
    "eosctl/services/change_transaction.py": "carries out an attempt",
    "eosctl/services/verify_application.py": "runs eosctl.lab.verify",
    "eosctl/services/run_canary.py": "runs eosctl.lab.verify",
}
# It reads topics with confluent-kafka, in no group, and may use these names of the library.
READER = "eosctl/logs/topics/consumer.py"
READS = {f"confluent_kafka.{name}" for name in ("Consumer", "KafkaError", "KafkaException", "TopicPartition")}
LEAVES_A_TRACE = {"commit", "subscribe", "store_offsets", "send_offsets_to_transaction"}
MUTATING = {api.name for api in ApiKey if api not in READ_ONLY_APIS}
MESSAGES = {f"eosctl.wire.messages.{name.lower()}" for name in MUTATING}
FORBIDDEN = (
    *("eosctl.wire.generated", "confluent_kafka"),
    # They make the client look the coordinator up, which creates the internal topic of a cluster that has none.
    *("eosctl.client.group_coordinator", "eosctl.client.transaction_coordinator"),
    *("eosctl.client.destinations.group_coordinator", "eosctl.client.destinations.transaction_coordinator"),
)
# The client sends it only for the destinations above.
LOOKUP = ApiKey.FIND_COORDINATOR.name
PROTOCOL = "eosctl/actions/protocol.py"

Modules = Mapping[str, ast.Module]


class Import(NamedTuple):
    """One imported module or name, with the line."""

    line: int
    module: str
    name: str

    @property
    def full(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


def imports(tree: ast.AST) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (Import(node.lineno, node.module or "", alias.name) for alias in node.names)


def names_mutating_api(node: ast.AST) -> str:
    """Return the API that an expression like ``ApiKey.END_TXN`` or ``ApiKey["END_TXN"]`` names; empty for others."""
    if isinstance(node, ast.Attribute):
        named = node.attr
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        named = node.slice.value
    else:
        return ""
    return named if named in MUTATING and last_name(node.value).endswith("ApiKey") else ""


def last_name(node: ast.AST) -> str:
    """Return the last part of a dotted name; empty for other expressions."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def definitions(tree: ast.Module) -> dict[str, ast.AST]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name: node for node in tree.body if isinstance(node, kinds)}


def senders(modules: Mapping[str, ast.Module]) -> set[str]:
    """Return the functions and classes of the client that send such a request, themselves or through each other.

    A class counts when any of its methods sends.
    """
    bodies = {
        f"{module}.{name}": (tree, node) for module, tree in modules.items() for name, node in definitions(tree).items()
    }
    sending = {full for full, (_, node) in bodies.items() if any(_is_sent(call) for call in ast.walk(node))}
    while True:
        rest = {full: body for full, body in bodies.items() if full not in sending}
        more = {full for full, (tree, node) in rest.items() if _uses(tree, node, full, sending)}
        if not more:
            return sending
        sending |= more


def _is_sent(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    named = {names_mutating_api(argument) for argument in node.args}
    return bool(named - {"", LOOKUP})


def _uses(tree: ast.Module, node: ast.AST, full: str, sending: set[str]) -> bool:
    module = full.rpartition(".")[0]
    local = {name: f"{module}.{name}" for name in definitions(tree)}
    local |= {found.name: found.full for found in imports(tree)}
    called = {ast.unparse(call.func).partition(".")[0] for call in ast.walk(node) if isinstance(call, ast.Call)}
    return any(local.get(name) in sending for name in called)


def violations(tree: ast.AST, sending: set[str]) -> list[str]:
    """Name each way in which a module of a guarded package could change a cluster."""
    with_senders = {full.rpartition(".")[0] for full in sending}
    found = []
    for one in imports(tree):
        is_message = one.module in MESSAGES or one.full in MESSAGES
        is_sender = one.full in sending or one.full in with_senders
        is_forbidden = any(one.full == name or one.full.startswith(f"{name}.") for name in FORBIDDEN)
        from_actions = one.module.startswith("eosctl.actions") and (one.name == "Permit" or one.name.startswith("_"))
        if is_message or is_sender or is_forbidden or from_actions:
            found.append(f"line {one.line}: {one.full}")
    found += [
        f"line {node.lineno}: ApiKey.{api}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Subscript) and (api := names_mutating_api(node))
    ]
    return found


def unlimited_clients(tree: ast.AST) -> list[str]:
    """Name each client that is opened without a list of the requests that it may send."""
    return [
        f"line {node.lineno}: {ast.unparse(node.func)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and last_name(node.func) in ("connect", "Client")
        and not any(word.arg == "allowed_apis" for word in node.keywords)
    ]


def unpermitted(tree: ast.Module, sending: set[str]) -> list[str]:
    """Name each function of ``actions`` that sends such a request and does not use a permit first."""
    imported = {found.name for found in imports(tree) if found.full in sending}
    found = []
    for name, node in definitions(tree).items():
        calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
        sends = [call for call in calls if _is_sent(call) or ast.unparse(call.func) in imported]
        first = ast.unparse(node.body[0]) if isinstance(node, ast.AsyncFunctionDef) else ""
        if sends and first != "permit.use(plan)":
            found.append(name)
    return found


def permits(tree: ast.AST) -> list[str]:
    """Name each place that makes a permit."""
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and last_name(node.func) == "Permit"
    ]


@pytest.fixture(scope="module")
def modules(project_root: Path) -> Modules:
    """The parsed modules of eosctl by their path, without the formats."""
    paths = sorted((project_root / "eosctl").rglob("*.py"))
    names = (path.relative_to(project_root).as_posix() for path in paths)
    return {
        name: ast.parse((project_root / name).read_text("utf-8"), name)
        for name in names
        if not name.startswith("eosctl/wire/")
    }


def of_package(modules: Modules, package: str) -> Modules:
    return {path: tree for path, tree in modules.items() if path.startswith(f"{package}/")}


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def is_in(path: str, folders: Mapping[str, str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


@pytest.fixture(scope="module")
def sending(modules: Modules) -> set[str]:
    return senders({module_of(path): tree for path, tree in of_package(modules, "eosctl/client").items()})


def test_the_client_functions_that_send_such_requests_are_found(sending: set[str]) -> None:
    names = {full.removeprefix("eosctl.client.") for full in sending}
    assert names >= {
        *("transactions.init_producer_id", "transactions.end_txn", "transactions.produce", "topics.ensure_topic"),
        *("producer.TransactionalProducer", "group_member.GroupMember", "transactions.commit_offsets_in_txn"),
    }
    assert not names & {"client.Client", "client.connect", "consumer.Reader", "consumer.list_offset"}


@pytest.mark.quick
def test_only_actions_and_clients_by_purpose_build_or_send_them(modules: Modules, sending: set[str]) -> None:
    found = {path: violations(tree, sending) for path, tree in modules.items() if not is_in(path, BY_PURPOSE)}
    found[READER] = [line for line in found[READER] if line.partition(": ")[2] not in READS]
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_the_reader_of_topics_leaves_no_trace(modules: Modules) -> None:
    nodes = ast.walk(modules[READER])
    assert LEAVES_A_TRACE.isdisjoint(node.attr for node in nodes if isinstance(node, ast.Attribute))


@pytest.mark.parametrize("package", sorted(set(BY_PURPOSE) - {"eosctl/wire"}))
def test_each_client_by_purpose_needs_to_be_one(package: str, modules: Modules, sending: set[str]) -> None:
    assert any(violations(tree, sending) for tree in of_package(modules, package).values())


@pytest.mark.quick
def test_commands_open_clients_that_only_read(modules: Modules) -> None:
    guarded = [(path, tree) for path, tree in modules.items() if not is_in(path, BY_PURPOSE)]
    found = {path for path, tree in guarded if any(imports_client(tree)) and unlimited_clients(tree)}
    assert found == set(UNLIMITED_CLIENTS)


def imports_client(tree: ast.AST) -> Iterator[Import]:
    opening = {f"eosctl.client{module}.{name}" for module in ("", ".client") for name in ("connect", "Client")}
    return (one for one in imports(tree) if one.full in opening)


@pytest.mark.quick
def test_only_the_protocol_creates_permits_for_actions(modules: Modules, sending: set[str]) -> None:
    actions = of_package(modules, "eosctl/actions")
    assert {path: unpermitted(tree, sending) for path, tree in actions.items() if unpermitted(tree, sending)} == {}
    assert [path for path, tree in modules.items() if permits(tree)] == [PROTOCOL]
    assert len(permits(actions[PROTOCOL])) == 1


@pytest.mark.parametrize(
    "planted",
    [
        "from eosctl.wire.messages.end_txn import EndTxnRequest",
        "from eosctl.wire.messages import write_txn_markers",
        "import eosctl.wire.messages.delete_topics as topics",
        "from eosctl.wire.generated import end_txn_request_v0",
        "def f(client):\n    from eosctl.wire.messages.elect_leaders import ElectLeadersRequest",
        "client.request(0, ApiKey.OFFSET_DELETE, message)",
        "client.request(0, ApiKey['DELETE_GROUPS'], message)",
        "client.request(0, api_keys.ApiKey.FIND_COORDINATOR, message)",
        "from eosctl.client.transactions import init_producer_id",
        "from eosctl.client import group_coordinator",
        "from eosctl.client.producer import TransactionalProducer as Producer",
        "from eosctl.client import topics",
        "import eosctl.client.group_member",
        "from confluent_kafka.admin import AdminClient",
        "import confluent_kafka",
        "from eosctl.actions.protocol import Permit",
        "from eosctl.actions.marker import _write_marker",
    ],
)
def test_a_planted_request_is_seen(planted: str, sending: set[str]) -> None:
    assert violations(ast.parse(planted), sending) != []


@pytest.mark.parametrize(
    "innocent",
    [
        "from eosctl.wire.messages.describe_producers import DescribeProducersRequest",
        "from eosctl.wire.messages.internal.metadata.config_record import ConfigRecord",
        "client.request(0, ApiKey.FETCH, message)",
        "from eosctl.client.transactions import TV1, TV2",
        "from eosctl.client.client import connect",
        "from eosctl.actions.protocol import carry_out",
    ],
)
def test_what_only_reads_is_not(innocent: str, sending: set[str]) -> None:
    assert violations(ast.parse(innocent), sending) == []


def test_a_planted_sender_is_found_through_other_functions() -> None:
    planted = {
        "eosctl.client.a": "async def direct(client):\n    await client.request(0, ApiKey.END_TXN, None)",
        "eosctl.client.b": "from eosctl.client.a import direct\nclass Indirect:\n    def end(self): direct(1)",
        "eosctl.client.c": "from eosctl.client.b import Indirect\ndef far(): return Indirect()\ndef no(): pass",
    }
    trees = {module: ast.parse(text) for module, text in planted.items()}
    assert senders(trees) == {"eosctl.client.a.direct", "eosctl.client.b.Indirect", "eosctl.client.c.far"}


@pytest.mark.parametrize(
    "planted",
    [
        "async def f(client, plan, permit):\n    await client.request(0, ApiKey.END_TXN, 1)\n    permit.use(plan)",
        "async def f(client, plan):\n    await client.request(0, ApiKey.WRITE_TXN_MARKERS, 1)",
        "from eosctl.client.transactions import init_producer_id\nasync def f(client):\n    init_producer_id(client)",
        "class Sender:\n    async def f(self, client):\n        await client.request(0, ApiKey.PRODUCE, 1)",
    ],
)
def test_a_planted_action_without_a_permit_is_seen(planted: str, sending: set[str]) -> None:
    assert len(unpermitted(ast.parse(planted), sending)) == 1


def test_planted_permits_and_unlimited_clients_are_seen() -> None:
    assert len(permits(ast.parse("permit = protocol.Permit(attempt)"))) == 1
    assert len(unlimited_clients(ast.parse("connect(config)\nClient(config, chance=1)"))) == 2
    assert unlimited_clients(ast.parse("connect(config, allowed_apis=READ_ONLY_APIS)")) == []
