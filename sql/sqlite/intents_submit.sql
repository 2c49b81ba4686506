-- Inserts what is new; a row that is not returned was there before.  The rows
-- are visited in the order of the document: of two with one id the first wins.

WITH
    now (at) AS MATERIALIZED (
        SELECT CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)
               * 1000
    ),
    contract AS MATERIALIZED (
        SELECT key AS contract_key,
               value ->> 'target' AS submission_target,
               value ->> 'gatewayType' AS gateway_type,
               value ->> 'gatewayUrl' AS gateway_url,
               value ->> 'policy' AS policy,
               value ->> 'maxAcceptanceSeconds' AS max_acceptance_seconds,
               value ->> 'maxAttempts' AS max_attempts,
               value ->> 'terminalOutcomes' AS terminal_outcomes,
               value ->> 'retryDelayMs' AS retry_delay_ms,
               value ->> 'retryMaxMs' AS retry_max_ms,
               value ->> 'retryBackoffPct' AS retry_backoff_pct,
               value ->> 'retryJitterPct' AS retry_jitter_pct
        FROM json_each(:doc, '$.contracts')
    ),
    r AS MATERIALIZED (
        SELECT value FROM json_each(:doc, '$.rows')
    )
INSERT INTO submission_intents (
    lease_name, intent_id, submission_target, payload_hash, gateway_type,
    gateway_url, policy, max_acceptance_seconds, max_attempts,
    terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct,
    retry_jitter_pct, status, attempt_count, created_at, last_modified_at,
    next_attempt_at, payload
)
SELECT :lease_name, r.value ->> 'id', c.submission_target, r.value ->> 'hash',
       c.gateway_type, c.gateway_url, c.policy, c.max_acceptance_seconds,
       c.max_attempts, c.terminal_outcomes, c.retry_delay_ms, c.retry_max_ms,
       c.retry_backoff_pct, c.retry_jitter_pct, 'pending', 0, now.at, now.at,
       now.at,
       coalesce(substr(:bytes, (r.value ->> 'offset') + 1,
                       r.value ->> 'length'),
                x'')
FROM r
     CROSS JOIN contract AS c ON c.contract_key = r.value ->> 'contract'
     CROSS JOIN now
WHERE true
ON CONFLICT (lease_name, intent_id) DO NOTHING
RETURNING intent_id, created_at;
