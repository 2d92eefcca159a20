"""Named actors of a Ray cluster. They outlive the process that started them.

Ray is an extra, and only this module imports it. Ray restarts an actor when its process or its
node dies, on a node that has room. One name stands for one actor at a time.
"""

from __future__ import annotations

import logging
from types import ModuleType
from typing import Any

from geomi.errors import ClusterError, ExtraMissing

NAMESPACE = "geomi"
ANSWER_S = 10.0
CALLS_AT_ONCE = 4  # an actor that works in a thread of its own still answers


def _ray() -> ModuleType:
    try:
        import ray
        import ray.util
    except ImportError as error:
        raise ExtraMissing("a fleet needs ray", extra="ray") from error
    return ray


class RayActors:
    """The actors of one cluster.

    Args:
        address: where the cluster is, as `ray start` names it; empty inside an actor, which is
            connected already.
    """

    def __init__(self, address: str = "") -> None:
        self._ray = _ray()
        if address:
            self._connect(address)

    def close(self) -> None:
        """Leave the cluster; its actors stay."""
        self._ray.shutdown()

    def start(self, name: str, kind: type, *arguments: object, cpus: float) -> None:
        """Start an actor on the node that has most room; one of that name that is there stays."""
        options: dict[str, Any] = {
            "name": name,
            "namespace": NAMESPACE,
            "lifetime": "detached",
            "get_if_exists": True,
            "max_restarts": -1,
            "num_cpus": cpus,
            "max_concurrency": CALLS_AT_ONCE,
            "scheduling_strategy": "SPREAD",
        }
        self._ray.remote(kind).options(**options).remote(*arguments)

    def names(self) -> list[str]:
        """Return the actors that were started and not ended, restarting ones included."""
        found = self._ray.util.list_named_actors(all_namespaces=True)
        return sorted(one["name"] for one in found if one["namespace"] == NAMESPACE)

    def call(
        self, name: str, method: str, *arguments: object, within_s: float = ANSWER_S
    ) -> object:
        """Ask an actor; `ClusterError` where it is away, or does not answer."""
        exceptions = self._ray.exceptions
        try:
            actor = self._ray.get_actor(name, namespace=NAMESPACE)
            answer = getattr(actor, method).remote(*arguments)
            return self._ray.get(answer, timeout=within_s)
        except ValueError as error:
            raise ClusterError(
                f"there is no actor `{name}`", hint="start it with geomi fleet up"
            ) from error
        except (exceptions.RayActorError, exceptions.GetTimeoutError) as error:
            raise ClusterError(f"the actor `{name}` does not answer") from error

    def end(self, name: str) -> None:
        """End an actor for good."""
        try:
            self._ray.kill(self._ray.get_actor(name, namespace=NAMESPACE), no_restart=True)
        except ValueError:
            return  # it is gone

    def _connect(self, address: str) -> None:
        try:
            self._ray.init(
                address=address,
                namespace=NAMESPACE,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise ClusterError(
                f"the Ray cluster at `{address}` cannot be reached: {reason}",
                hint="`ray start --head` starts one and prints its address",
            ) from error


def node_id() -> str:
    """Return the name of the node that this actor runs on."""
    return str(_ray().get_runtime_context().get_node_id())
