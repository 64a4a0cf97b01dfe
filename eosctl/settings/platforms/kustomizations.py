"""Build kustomizations: the resources of a base as each overlay patches them.

Read are ``resources``, ``bases``, ``components``, ``patches``, ``patchesJson6902``, ``patchesStrategicMerge``,
``replicas``, and the files of generated ConfigMaps that an overlay replaces, as far as they are among the given ones.
The others are returned as missing, and so is what would make more than 5,000 resources of one kustomization, or lies
deeper than 50 below it: kustomizations that use each other twice grow exponentially.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, NamedTuple

from eosctl.errors import ConfigFileError
from eosctl.model.deployment import Place
from eosctl.model.unjudged import Unseen
from eosctl.settings.files.documents import parse_within
from eosctl.settings.files.file_texts import mentions_kafka
from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.formats.tree_patches import merged, operated, placed

_NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_SCALED: Final = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
_USED: Final = ("resources", "bases", "components")
_PATCHES: Final = ("patches", "patchesJson6902", "patchesStrategicMerge")
_GENERATORS: Final = ("configMapGenerator", "secretGenerator")
_FILE: Final = re.compile(r"\S+\.(?:ya?ml|json)")
_MOST_RESOURCES: Final = 5_000
_DEEPEST: Final = 50
Reader = Callable[[str], tuple[Node, ...]]


class Resource(NamedTuple):
    """A document of a file, as a kustomization has patched it."""

    file: str
    number: int
    document: Node


class MissingPart(NamedTuple):
    """What a kustomization names and that was not built, with the files of the resources that it does build."""

    unseen: Unseen
    resources: frozenset[str]
    is_too_much: bool = False


class Builds(NamedTuple):
    """What kustomizations make of the given files.

    Attributes:
        overlays: The resources that each kustomization builds, by its file, where one of them patches something.
        files: The files of these resources, which are not used as they are.
        patches: The files of patches that were applied.
        replaced: Files of generated ConfigMaps and Secrets in whose place each kustomization that uses them has others.
        missing: Resources and patches that kustomizations name and that are not among the files, or are too many.
    """

    overlays: Mapping[str, tuple[Resource, ...]] = {}
    files: frozenset[str] = frozenset()
    patches: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()
    missing: tuple[MissingPart, ...] = ()

    def missing_for(self, files: Collection[str]) -> tuple[Unseen, ...]:
        """Return what is missing where it can change the settings of files, or is named after Kafka itself."""
        return tuple(
            one.unseen
            for one in self.missing
            if one.is_too_much
            or "kafka" in one.unseen.reads.lower()
            or not one.resources.isdisjoint(map(posixpath.normpath, files))
        )


class _Patch(NamedTuple):
    """A document of a patch: its file, and what it is applied to; without a target its own name says that."""

    node: Node
    target: Branch | None
    file: str


def build(files: Collection[str], read: Reader) -> Builds:
    """Return what the kustomizations among files make of the others.

    Args:
        files: The names of all files.
        read: Returns the documents of one of them, nothing for one that cannot be parsed.
    """
    found = [file for file in files if posixpath.basename(file) in _NAMES]
    if not found:
        return Builds()
    builder = _Builder(frozenset(map(posixpath.normpath, files)), read)
    overlays = {file: builder.resources(posixpath.normpath(file)) for file in found}
    used = {posixpath.normpath(one) for file in found for one in builder.used_by(file)}
    roots = {file: one for file, one in overlays.items() if posixpath.normpath(file) not in used}
    resources = (one for overlay in roots.values() for one in overlay)
    changed = {one.file for one in resources if one.document is not builder.documents(one.file)[one.number]}
    built = {file: overlay for file, overlay in roots.items() if changed.intersection(one.file for one in overlay)}
    names = frozenset(one.file for overlay in built.values() for one in overlay)
    missing = tuple(
        MissingPart(
            Unseen(Place(file, named.line), named.text or ""), frozenset(one.file for one in overlay), is_too_much
        )
        for file, overlay in overlays.items()
        for is_too_much, leaves in (
            (False, builder.missing(file)),
            (True, builder.left_out.get(posixpath.normpath(file), ())),
        )
        for named in leaves
    )
    generated = [builder.generated(posixpath.normpath(root)) for root in roots]
    every, kept = ({file for one in generated for file in one[part]} for part in (0, 1))
    return Builds(built, names, frozenset(builder.applied), frozenset(every - kept), missing)


def names_files_alone(document: Node, file: str) -> bool:
    """Return whether a document is a kustomization of other files, without settings of Kafka of its own."""
    if posixpath.basename(file) not in _NAMES or not isinstance(document, Branch):
        return False
    literals = (
        node
        for key in _GENERATORS
        for member in document.items(key)
        if isinstance(member, Branch)
        for node in member.items("literals")
    )
    has_own = any(isinstance(node, Leaf) and mentions_kafka(file, node.text or "") for node in literals)
    patches = (node for key in _PATCHES for node in document.items(key))
    return not has_own and all(
        node.get("patch") is None
        if isinstance(node, Branch)
        else isinstance(node, Leaf) and "\n" not in (node.text or "")
        for node in patches
    )


class _Builder:
    """Builds kustomizations one after the other; each file is parsed, and each kustomization built, once."""

    def __init__(self, files: frozenset[str], read: Reader) -> None:
        self._files = files
        self._read = read
        self._parsed: dict[str, tuple[Node, ...]] = {}
        self._built: dict[str, tuple[Resource, ...]] = {}
        self.left_out: dict[str, list[Leaf]] = {}
        self._depth = 0
        self.applied: set[str] = set()

    def documents(self, file: str) -> tuple[Node, ...]:
        """Return the documents of a file."""
        if file not in self._parsed:
            self._parsed[file] = self._read(file)
        return self._parsed[file]

    def resources(self, file: str) -> tuple[Resource, ...]:
        """Return the resources of a kustomization and of those that it uses, with its patches applied."""
        if file not in self._built:
            self._built[file] = ()  # for one that uses itself
            self._depth += 1
            for own in self.documents(file)[:1]:
                if isinstance(own, Branch):
                    self._built[file] = tuple(self._resources(own, file))
            self._depth -= 1
        return self._built[file]

    def _resources(self, own: Branch, file: str) -> list[Resource]:
        found: list[Resource] = []
        for named in _named(own, "resources", "bases"):
            path = _path(named, file)
            if (used := self._kustomization(path)) is not None:
                found = self._with_used(found, used, named, file)
            elif path in self._files:
                nodes = (Resource(path, number, node) for number, node in enumerate(self.documents(path)))
                found = self._joined(found, tuple(nodes), named, file)
        for named in _named(own, "components"):
            used = self._kustomization(_path(named, file))
            component = self.documents(used)[:1] if used is not None else ()
            if used is not None and component and isinstance(component[0], Branch):
                found = self._with_used(found, used, named, file)
                found = self._patched(found, component[0], used)
        return self._patched(found, own, file)

    def _with_used(self, found: list[Resource], used: str, named: Leaf, file: str) -> list[Resource]:
        if self._depth >= _DEEPEST:
            self.left_out.setdefault(file, []).append(named)
            return found
        return self._joined(found, self.resources(used), named, file)

    def _joined(self, found: list[Resource], more: tuple[Resource, ...], named: Leaf, file: str) -> list[Resource]:
        """Return resources with those of a further part; nothing of it, if they would be too many."""
        if len(found) + len(more) > _MOST_RESOURCES:
            self.left_out.setdefault(file, []).append(named)
            return found
        return [*found, *more]

    def used_by(self, file: str) -> Iterator[str]:
        """Yield the kustomizations that one uses."""
        for own in self.documents(file)[:1]:
            for named in _named(own, *_USED) if isinstance(own, Branch) else ():
                if (used := self._kustomization(_path(named, file))) is not None:
                    yield used

    def used_below(self, root: str) -> list[str]:
        """Return a kustomization and all that it uses, each after those that it uses itself."""
        found: dict[str, None] = {}
        entered: set[str] = set()
        waiting = [(root, False)]
        while waiting:
            file, is_left = waiting.pop()
            if is_left:
                found[file] = None
            elif file not in entered:
                entered.add(file)
                waiting += [(file, True), *((used, False) for used in self.used_by(file))]
        return list(found)

    def generated(self, root: str) -> tuple[set[str], set[str]]:
        """Return the files of every generator below a kustomization, and those that are in what it builds."""
        every: set[str] = set()
        kept: dict[str, dict[str, str]] = {}
        for file in self.used_below(root):
            for name, is_whole, held in self._generators(file):
                every.update(held.values())
                kept[name] = held if is_whole else {**kept.get(name, {}), **held}
        return every, {file for held in kept.values() for file in held.values()}

    def _generators(self, file: str) -> Iterator[tuple[str, bool, dict[str, str]]]:
        """Yield the name of each generated resource, whether it replaces the one of that name, and its files."""
        for own in self.documents(file)[:1]:
            for key in _GENERATORS if isinstance(own, Branch) else ():
                for member in own.items(key) if isinstance(own, Branch) else ():
                    if isinstance(member, Branch):
                        named = [node for node in member.items("files") if isinstance(node, Leaf) and node.text]
                        held = {_key(node): _held(node, file) for node in named}
                        yield f"{key} {member.text('name')}", member.text("behavior") == "replace", held

    def missing(self, file: str) -> Iterator[Leaf]:
        """Yield what a kustomization names and that is not among the files."""
        for own in self.documents(file)[:1]:
            for named in (*_named(own, *_USED), *_patch_files(own)) if isinstance(own, Branch) else ():
                path = _path(named, file)
                if path not in self._files and self._kustomization(path) is None:
                    yield named

    def _kustomization(self, folder: str) -> str | None:
        return next((name for one in _NAMES if (name := posixpath.join(folder, one)) in self._files), None)

    def _patched(self, resources: list[Resource], own: Branch, file: str) -> list[Resource]:
        for patch in self._patches(own, file):
            changed = [_apply(one, patch) for one in resources]
            if patch.file != file and any(new is not old for new, old in zip(changed, resources, strict=True)):
                self.applied.add(patch.file)
            resources = changed
        for member in own.items("replicas"):
            count = member.get("count") if isinstance(member, Branch) else None
            if isinstance(member, Branch) and isinstance(count, Leaf):
                resources = [_scaled(one, member.text("name"), count, file) for one in resources]
        return resources

    def _patches(self, own: Branch, file: str) -> Iterator[_Patch]:
        for key in _PATCHES:
            for member in own.items(key):
                target = member.branch("target") if isinstance(member, Branch) else None
                text = member.get("patch") if isinstance(member, Branch) else member
                named = member.get("path") if isinstance(member, Branch) else member
                path = _path(named, file) if isinstance(named, Leaf) else ""
                if path in self._files:
                    yield from (_Patch(node, target, path) for node in self.documents(path))
                elif isinstance(text, Leaf) and text.text:
                    yield from (_Patch(node, target, file) for node in _inline(text))


def _key(node: Leaf) -> str:
    """Return the key of a generator's file: what is written before it, else its name."""
    key, equals, _ = (node.text or "").partition("=")
    return key if equals else posixpath.basename(key)


def _held(node: Leaf, file: str) -> str:
    """Return the path of a generator's file, which stands after the key that it has in the resource."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), (node.text or "").rpartition("=")[2]))


def _inline(text: Leaf) -> tuple[Node, ...]:
    try:
        return parse_within("patch.yaml", text.text or "", text.line)
    except ConfigFileError:
        return ()  # the path of a file that is not among the given ones


def _named(own: Branch, *keys: str) -> Iterator[Leaf]:
    """Yield the paths and addresses that a kustomization has under some keys."""
    for node in (node for key in keys for node in own.items(key)):
        if isinstance(node, Leaf) and node.text:
            yield node


def _patch_files(own: Branch) -> Iterator[Leaf]:
    for node in (node for key in _PATCHES for node in own.items(key)):
        path = node.get("path") if isinstance(node, Branch) else node
        if isinstance(path, Leaf) and _FILE.fullmatch(path.text or ""):
            yield path


def _path(node: Leaf, file: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), node.text or ""))


def _apply(one: Resource, patch: _Patch) -> Resource:
    if not isinstance(one.document, Branch) or not _is_target(one.document, patch):
        return one
    if isinstance(patch.node, Row):
        return one._replace(document=operated(one.document, patch.node, patch.file))
    return one._replace(document=merged(one.document, patch.node, patch.file))


def _is_target(document: Branch, patch: _Patch) -> bool:
    """Return whether a patch is for a document; names of targets are regular expressions."""
    if patch.target is None:
        own = patch.node
        return isinstance(own, Branch) and all(
            own.text(*path) is not None and own.text(*path) == document.text(*path)
            for path in (("kind",), ("metadata", "name"))
        )
    version = document.text("apiVersion") or ""
    parts = {
        "group": version.rpartition("/")[0],
        "version": version.rpartition("/")[2],
        "kind": document.text("kind") or "",
        "name": document.text("metadata", "name") or "",
        "namespace": document.text("metadata", "namespace") or "",
    }
    # The namespace is often set by a kustomization, not by the resource.
    wanted = {key: text for key in parts if (text := patch.target.text(key)) and (key != "namespace" or parts[key])}
    labels = (one.partition("=") for one in (patch.target.text("labelSelector") or "").split(",") if "=" in one)
    return all(_matches(text, parts[key]) for key, text in wanted.items()) and all(
        document.text("metadata", "labels", name.strip()) == value.strip() for name, _, value in labels
    )


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error:
        return pattern == text


def _scaled(one: Resource, name: str | None, count: Leaf, file: str) -> Resource:
    document = one.document
    if not isinstance(document, Branch) or document.text("kind") not in _SCALED:
        return one
    if name != document.text("metadata", "name"):
        return one
    part = Branch((("spec", Branch((("replicas", placed(count, file, 1)),), 1)),), 1)
    return one._replace(document=merged(document, part, file))
