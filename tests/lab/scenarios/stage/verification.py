"""The switch that lets late data of a transaction through."""

from __future__ import annotations

from typing import Final

from eosctl.client import Client, Role
from eosctl.client.outcome import any_error, error_for_code
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

VERIFICATION_SETTING: Final = "transaction.partition.verification.enable"

_BROKER_RESOURCE: Final = 4
_ALL_BROKERS: Final = ""
_SET: Final = 0


async def disable_verification(client: Client) -> None:
    """Set ``transaction.partition.verification.enable=false`` as the dynamic default of all brokers."""
    change = AlterableConfig(VERIFICATION_SETTING, _SET, "false")
    resource = AlterConfigsResource(_BROKER_RESOURCE, _ALL_BROKERS, [change])
    response = await client.request(
        Role.CONTROLLER, ApiKey.INCREMENTAL_ALTER_CONFIGS, IncrementalAlterConfigsRequest([resource])
    )
    code = any_error(response)
    if code:
        raise error_for_code(code, f"Setting {VERIFICATION_SETTING}=false")
