"""Kafka's error codes, their meaning, and whether a client may retry them.

Codes and retriability are those of `org.apache.kafka.common.protocol.Errors` in Kafka 4.4.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class ErrorCode(IntEnum):
    """An error code of a response; equal to the number on the wire.

    Attributes:
        message: What the code means.
        retriable: Whether Kafka's clients may send the same request again.
    """

    message: str
    retriable: bool

    def __new__(cls, code: int, message: str = "", retriable: bool = False) -> ErrorCode:
        """Create a member that equals its code and carries the other attributes."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.message = message
        member.retriable = retriable
        return member

    UNKNOWN_SERVER_ERROR = -1, "The broker failed in a way it did not expect; its log has the reason."
    NONE = 0, "No error."
    OFFSET_OUT_OF_RANGE = 1, "The offset lies outside the partition's log."
    CORRUPT_MESSAGE = 2, "The batch is corrupt: wrong checksum or size, or a null key in a compacted topic.", True
    UNKNOWN_TOPIC_OR_PARTITION = 3, "The broker does not host this partition.", True
    INVALID_FETCH_SIZE = 4, "The fetch size is invalid."
    LEADER_NOT_AVAILABLE = 5, "The partition has no leader at the moment.", True
    NOT_LEADER_OR_FOLLOWER = 6, "The broker is not the partition's leader, or not one of its replicas.", True
    REQUEST_TIMED_OUT = 7, "The request was not completed in time.", True
    BROKER_NOT_AVAILABLE = 8, "The broker is not available."
    REPLICA_NOT_AVAILABLE = 9, "The broker holds no replica of the partition.", True
    MESSAGE_TOO_LARGE = 10, "The batch is larger than the broker or the topic accepts."
    STALE_CONTROLLER_EPOCH = 11, "The controller has moved to another broker."
    OFFSET_METADATA_TOO_LARGE = 12, "The metadata of the committed offset is too long."
    NETWORK_EXCEPTION = 13, "The connection broke before an answer came.", True
    COORDINATOR_LOAD_IN_PROGRESS = 14, "The coordinator is still loading its log.", True
    COORDINATOR_NOT_AVAILABLE = 15, "No coordinator is available.", True
    NOT_COORDINATOR = 16, "The broker is not the coordinator for this id.", True
    INVALID_TOPIC_EXCEPTION = 17, "The topic name is invalid, or the topic is internal."
    RECORD_LIST_TOO_LARGE = 18, "The batch is larger than a segment of the log."
    NOT_ENOUGH_REPLICAS = 19, "Too few replicas are in sync; nothing was appended.", True
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20, "The batch was appended, but by fewer replicas than required.", True
    INVALID_REQUIRED_ACKS = 21, "The value of acks is invalid."
    ILLEGAL_GENERATION = 22, "The group has another generation."
    INCONSISTENT_GROUP_PROTOCOL = 23, "The member's protocols do not fit those of the group."
    INVALID_GROUP_ID = 24, "The group id is invalid."
    UNKNOWN_MEMBER_ID = 25, "The coordinator does not know the member."
    INVALID_SESSION_TIMEOUT = 26, "The session timeout is outside the broker's limits."
    REBALANCE_IN_PROGRESS = 27, "The group is rebalancing; the member must rejoin."
    INVALID_COMMIT_OFFSET_SIZE = 28, "The committed offset is too large to store."
    TOPIC_AUTHORIZATION_FAILED = 29, "Not authorised for the topic."
    GROUP_AUTHORIZATION_FAILED = 30, "Not authorised for the group."
    CLUSTER_AUTHORIZATION_FAILED = 31, "Not authorised for the cluster."
    INVALID_TIMESTAMP = 32, "The record's timestamp is outside the allowed range."
    UNSUPPORTED_SASL_MECHANISM = 33, "The broker does not offer this SASL mechanism."
    ILLEGAL_SASL_STATE = 34, "The request does not fit the state of the SASL exchange."
    UNSUPPORTED_VERSION = 35, "The broker does not support this version of the API."
    TOPIC_ALREADY_EXISTS = 36, "A topic with this name exists."
    INVALID_PARTITIONS = 37, "The number of partitions is invalid."
    INVALID_REPLICATION_FACTOR = 38, "The replication factor is below 1 or above the number of brokers."
    INVALID_REPLICA_ASSIGNMENT = 39, "The replica assignment is invalid."
    INVALID_CONFIG = 40, "The configuration is invalid."
    NOT_CONTROLLER = 41, "The node is not the controller.", True
    INVALID_REQUEST = 42, "The request is malformed, or its fields contradict each other."
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43, "The topic's message format does not support the request."
    POLICY_VIOLATION = 44, "A policy of the cluster forbids the request."
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45, "The sequence number does not follow the last one of this producer."
    DUPLICATE_SEQUENCE_NUMBER = 46, "The batch with this sequence number was appended before."
    INVALID_PRODUCER_EPOCH = 47, "The producer's epoch is older than the one the broker knows."
    INVALID_TXN_STATE = 48, "The state of the transaction does not allow the request."
    INVALID_PRODUCER_ID_MAPPING = 49, "The transactional id belongs to another producer id."
    INVALID_TRANSACTION_TIMEOUT = 50, "The transaction timeout is above the broker's maximum."
    CONCURRENT_TRANSACTIONS = 51, "Another operation on the same transaction is in progress.", True
    TRANSACTION_COORDINATOR_FENCED = 52, "The marker comes from a coordinator that has been replaced."
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53, "Not authorised for the transactional id."
    SECURITY_DISABLED = 54, "The cluster has no authoriser."
    OPERATION_NOT_ATTEMPTED = 55, "The broker did not try this part because another part of the request failed."
    KAFKA_STORAGE_ERROR = 56, "The broker could not use the disk of this log.", True
    LOG_DIR_NOT_FOUND = 57, "The broker has no such log directory."
    SASL_AUTHENTICATION_FAILED = 58, "SASL authentication failed."
    UNKNOWN_PRODUCER_ID = 59, "The broker has no state of this producer id: it expired or its records were deleted."
    REASSIGNMENT_IN_PROGRESS = 60, "The partition is being reassigned."
    DELEGATION_TOKEN_AUTH_DISABLED = 61, "Delegation tokens are not enabled."
    DELEGATION_TOKEN_NOT_FOUND = 62, "The broker does not know the delegation token."
    DELEGATION_TOKEN_OWNER_MISMATCH = 63, "The principal is neither owner nor renewer of the token."
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64, "Delegation tokens cannot be asked for over this connection."
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65, "Not authorised for the delegation token."
    DELEGATION_TOKEN_EXPIRED = 66, "The delegation token has expired."
    INVALID_PRINCIPAL_TYPE = 67, "The type of principal is not supported."
    NON_EMPTY_GROUP = 68, "The group has members."
    GROUP_ID_NOT_FOUND = 69, "There is no such group."
    FETCH_SESSION_ID_NOT_FOUND = 70, "The broker does not know the fetch session.", True
    INVALID_FETCH_SESSION_EPOCH = 71, "The fetch session has another epoch.", True
    LISTENER_NOT_FOUND = 72, "The leader has no listener of the name that was used.", True
    TOPIC_DELETION_DISABLED = 73, "Topics cannot be deleted on this cluster."
    FENCED_LEADER_EPOCH = 74, "The leader epoch is older than the broker's.", True
    UNKNOWN_LEADER_EPOCH = 75, "The leader epoch is newer than the broker's.", True
    UNSUPPORTED_COMPRESSION_TYPE = 76, "The client cannot read the partition's compression."
    STALE_BROKER_EPOCH = 77, "The broker's epoch has changed."
    OFFSET_NOT_AVAILABLE = 78, "A new leader does not know the high watermark yet.", True
    MEMBER_ID_REQUIRED = 79, "The group wants the member to join again with the id it was given."
    PREFERRED_LEADER_NOT_AVAILABLE = 80, "The preferred leader is not available.", True
    GROUP_MAX_SIZE_REACHED = 81, "The group has as many members as it may have."
    FENCED_INSTANCE_ID = 82, "Another member uses the same group.instance.id."
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83, "No eligible leader is available.", True
    ELECTION_NOT_NEEDED = 84, "No election is needed.", True
    NO_REASSIGNMENT_IN_PROGRESS = 85, "No reassignment is in progress."
    GROUP_SUBSCRIBED_TO_TOPIC = 86, "The group is subscribed to the topic."
    INVALID_RECORD = 87, "The broker refused the record after looking into it."
    UNSTABLE_OFFSET_COMMIT = 88, "A transaction with offsets of this group is still open.", True
    THROTTLING_QUOTA_EXCEEDED = 89, "A quota is exceeded.", True
    PRODUCER_FENCED = 90, "A newer producer with the same transactional id has taken over."
    RESOURCE_NOT_FOUND = 91, "The resource does not exist."
    DUPLICATE_RESOURCE = 92, "The request names a resource twice."
    UNACCEPTABLE_CREDENTIAL = 93, "The credential does not satisfy the requirements."
    INCONSISTENT_VOTER_SET = 94, "Sender or receiver is not one of the expected voters."
    INVALID_UPDATE_VERSION = 95, "The version of the update is invalid."
    FEATURE_UPDATE_FAILED = 96, "The features could not be updated."
    PRINCIPAL_DESERIALIZATION_FAILURE = 97, "The forwarded principal could not be read."
    SNAPSHOT_NOT_FOUND = 98, "There is no such snapshot."
    POSITION_OUT_OF_RANGE = 99, "The position lies outside the snapshot."
    UNKNOWN_TOPIC_ID = 100, "The broker does not host a topic with this id.", True
    DUPLICATE_BROKER_REGISTRATION = 101, "Another broker has this id."
    BROKER_ID_NOT_REGISTERED = 102, "No broker is registered with this id."
    INCONSISTENT_TOPIC_ID = 103, "The topic's id differs from the one on disk.", True
    INCONSISTENT_CLUSTER_ID = 104, "The request is meant for another cluster."
    TRANSACTIONAL_ID_NOT_FOUND = 105, "The coordinator does not know the transactional id."
    FETCH_SESSION_TOPIC_ID_ERROR = 106, "The fetch session mixes topic names and topic ids.", True
    INELIGIBLE_REPLICA = 107, "A replica of the proposed ISR may not be in it."
    NEW_LEADER_ELECTED = 108, "The change was made, and it elected another leader."
    OFFSET_MOVED_TO_TIERED_STORAGE = 109, "The offset has moved to tiered storage."
    FENCED_MEMBER_EPOCH = 110, "The member's epoch is fenced; it must give up its partitions and rejoin."
    UNRELEASED_INSTANCE_ID = 111, "Another member still holds the instance id."
    UNSUPPORTED_ASSIGNOR = 112, "The group does not support this assignor."
    STALE_MEMBER_EPOCH = 113, "The member's epoch is stale; a heartbeat brings the new one."
    MISMATCHED_ENDPOINT_TYPE = 114, "The node is of another kind than the request expects."
    UNSUPPORTED_ENDPOINT_TYPE = 115, "The kind of endpoint is not supported."
    UNKNOWN_CONTROLLER_ID = 116, "There is no controller with this id."
    UNKNOWN_SUBSCRIPTION_ID = 117, "The telemetry subscription is unknown."
    TELEMETRY_TOO_LARGE = 118, "The telemetry is larger than the broker accepts."
    INVALID_REGISTRATION = 119, "The controller refused the registration."
    TRANSACTION_ABORTABLE = 120, "The transaction failed and can be aborted; the producer may continue."
    INVALID_RECORD_STATE = 121, "The state of the share-group record does not allow this."
    SHARE_SESSION_NOT_FOUND = 122, "The broker does not know the share session.", True
    INVALID_SHARE_SESSION_EPOCH = 123, "The share session has another epoch.", True
    FENCED_STATE_EPOCH = 124, "The share group's state has a newer epoch."
    INVALID_VOTER_KEY = 125, "The voter's directory id differs."
    DUPLICATE_VOTER = 126, "The node is a voter already."
    VOTER_NOT_FOUND = 127, "The node is not a voter."
    INVALID_REGULAR_EXPRESSION = 128, "The regular expression is invalid."
    REBOOTSTRAP_REQUIRED = 129, "The client's metadata is too old; it must bootstrap again."
    STREAMS_INVALID_TOPOLOGY = 130, "The topology is invalid."
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131, "The epoch of the topology is invalid."
    STREAMS_TOPOLOGY_FENCED = 132, "The epoch of the topology is outdated."
    SHARE_SESSION_LIMIT_REACHED = 133, "The broker has as many share sessions as it may have.", True
    GROUP_DELETION_FAILED = 134, "The group was not deleted; the error message has the reason."
    STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED = 135, "The broker's plugin did not store the topology's description."
    CONTROLLER_ID_NOT_REGISTERED = 136, "No controller is registered with this id."


#: The code of nearly every response. A module constant avoids the cost of an enum attribute lookup.
NO_ERROR: Final = ErrorCode.NONE


def error_name(code: int) -> str:
    """Return the name of an error code, or a placeholder for a code that this release does not define."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"UNKNOWN_ERROR_{code}"
