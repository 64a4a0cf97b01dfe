"""The leader's side of share groups (KIP-932): records that are acquired, acknowledged, and delivered again."""
