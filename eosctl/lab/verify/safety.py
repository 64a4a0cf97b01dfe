"""Protect clusters from faults: only clusters started by eosctl or confirmed by id, never protected ones."""

from __future__ import annotations

from eosctl.errors import UsageError


def check_may_disturb(
    cluster_id: str, *, is_ours: bool, owned_id: str | None, protected_profile: str | None, what: str
) -> None:
    """Reject faults on a cluster of another owner.

    Args:
        cluster_id: The cluster.
        is_ours: Whether eosctl started it, as a sandbox or for this run.
        owned_id: The value of `--i-own-this-cluster`.
        protected_profile: The profile's name if it is protected.
        what: The planned change, for the message.

    Raises:
        UsageError: Faults are not allowed.
    """
    if protected_profile is not None:
        raise UsageError(
            f"Profile {protected_profile} is protected: {what} is refused.",
            "A protected cluster must not be disturbed, and no option overrides that.",
            "Leave the faults out (--nemesis none), or use a sandbox or a staging cluster.",
        )
    if is_ours:
        return
    if owned_id is None:
        raise UsageError(
            f"{what} is refused: eosctl did not start this cluster.",
            "It disturbs the cluster's other users.",
            f"If the cluster is yours to disturb, add: --i-own-this-cluster {cluster_id}",
        )
    if owned_id != cluster_id:
        raise UsageError(
            f"{what} is refused: the cluster's id is {cluster_id}, not {owned_id}.",
            "The id that was given is that of another cluster.",
            "Check --bootstrap-server.",
        )
