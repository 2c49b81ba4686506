-- Intents in every state, of a manager "kept" that nobody runs, as a module would have
-- left them.  Times are microseconds, as SQLite has them.

INSERT INTO submission_manager_leases (
    lease_name, holder_id, lease_epoch, acquired_at, renewed_at, expires_at
)
VALUES ('kept', 'sm-01', 7, 1700000000000000, 1700000009000000,
        1700000024000000);

INSERT INTO submission_manager_candidates (
    lease_name, holder_id, started_at, heartbeat_at, expires_at, role, version
)
VALUES ('kept', 'sm-01', 1690000000000000, 1700000009000000, 1700000024000000,
        'leader', '0.1');

INSERT INTO submission_intents (
    lease_name, intent_id, submission_target, payload_hash, gateway_type,
    gateway_url, policy, max_acceptance_seconds, max_attempts,
    terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct,
    retry_jitter_pct, status, final_outcome_status, final_outcome_reason,
    exhausted_reason, attempt_count, created_at, completed_at,
    last_modified_at, next_attempt_at, inflight_epoch, inflight_holder,
    inflight_at, payload
)
VALUES
    ('kept', 'pending-new', 'sms',
     '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
     'sms', 'http://sms.example/send', 'deadline', 30, NULL,
     'invalid_message', 5000, 0, 100, 0, 'pending', NULL, NULL, NULL, 0,
     1700000000000000, NULL, 1700000000000000, 1700000000000000, NULL, NULL,
     NULL, '{}'),
    ('kept', 'pending-retry', 'sms',
     '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
     'sms', 'http://sms.example/send', 'deadline', 30, NULL,
     'invalid_message', 5000, 0, 100, 0, 'pending', 'unknown', 'timeout',
     NULL, 1, 1700000001000000, NULL, 1700000003000000, 1700000008000000,
     NULL, NULL, NULL, '{}'),
    ('kept', 'pending-push', 'push',
     '6e80cea64d61f105befd57d622eaf8c4dfc083af9ab378a34a38618cc6d36e14',
     'push', 'http://push.example/send', 'max_attempts', NULL, 3, '', 1000,
     60000, 250, 20, 'pending', NULL, NULL, NULL, 0, 1700000002000000, NULL,
     1700000002000000, 1700000002000000, NULL, NULL, NULL, '{"text":"ä中😀"}'),
    ('kept', 'in-flight', 'sms',
     '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
     'sms', 'http://sms.example/send', 'deadline', 30, NULL,
     'invalid_message', 5000, 0, 100, 0, 'pending', NULL, NULL, NULL, 0,
     1700000003000000, NULL, 1700000009000000, NULL, 7, 'sm-01',
     1700000009000000, '{}'),
    ('kept', 'in-doubt', 'sms',
     '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
     'sms', 'http://sms.example/send', 'deadline', 30, NULL,
     'invalid_message', 5000, 0, 100, 0, 'pending', 'unknown', 'timeout',
     NULL, 1, 1700000004000000, NULL, 1700000005000000, NULL, 6, 'sm-02',
     1700000005000000, '{}'),
    ('kept', 'in-doubt-once', 'once',
     '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
     'http', 'http://http.example/send', 'one_shot', NULL, NULL,
     'invalid_message', 5000, 0, 100, 0, 'pending', NULL, NULL, NULL, 0,
     1700000004000000, NULL, 1700000005000000, NULL, 6, 'sm-02',
     1700000005000000, '{}'),
    ('kept', 'accepted', 'sms',
     '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
     'sms', 'http://sms.example/send', 'deadline', 30, NULL,
     'invalid_message', 5000, 0, 100, 0, 'accepted', 'accepted', NULL, NULL,
     2, 1700000005000000, 1700000012000000, 1700000012000000, NULL, NULL,
     NULL, NULL, '{}'),
    ('kept', 'rejected', 'sms',
     '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
     'sms', 'http://sms.example/send', 'deadline', 30, NULL,
     'invalid_message', 5000, 0, 100, 0, 'rejected', 'rejected',
     'invalid_message', NULL, 1, 1700000006000000, 1700000007000000,
     1700000007000000, NULL, NULL, NULL, NULL, '{}'),
    ('kept', 'exhausted-deadline', 'sms',
     '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
     'sms', 'http://sms.example/send', 'deadline', 30, NULL,
     'invalid_message', 5000, 0, 100, 0, 'exhausted', NULL, NULL,
     'deadline_exceeded', 0, 1700000007000000, 1700000040000000,
     1700000040000000, NULL, NULL, NULL, NULL, '{}'),
    ('kept', 'exhausted-attempts', 'push',
     '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
     'push', 'http://push.example/send', 'max_attempts', NULL, 3, '', 5000, 0,
     100, 0, 'exhausted', 'rejected', 'busy', 'max_attempts', 3,
     1700000008000000, 1700000020000000, 1700000020000000, NULL, NULL, NULL,
     NULL, '{}'),
    ('kept', 'exhausted-once', 'once',
     '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
     'http', 'http://http.example/send', 'one_shot', NULL, NULL,
     'invalid_message', 5000, 0, 100, 0, 'exhausted', 'rejected', 'busy',
     'one_shot', 1, 1700000009000000, 1700000010000000, 1700000010000000,
     NULL, NULL, NULL, NULL, '{}'),
    ('kept', 'exhausted-unknown', 'once',
     '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
     'http', 'http://http.example/send', 'one_shot', NULL, NULL,
     'invalid_message', 5000, 0, 100, 0, 'exhausted', 'unknown',
     'leader_lost', 'outcome_unknown', 1, 1700000010000000, 1700000011000000,
     1700000011000000, NULL, NULL, NULL, NULL, '{}');

INSERT INTO submission_attempts (
    lease_name, intent_id, attempt_number, lease_epoch, holder_id, started_at,
    finished_at, outcome_status, outcome_reason, error
)
VALUES
    ('kept', 'pending-retry', 1, 7, 'sm-01', 1700000001000000,
     1700000003000000, 'unknown', 'timeout', 'no answer within 2s'),
    ('kept', 'in-doubt', 1, 6, 'sm-02', 1700000004000000, 1700000004000000,
     'unknown', 'timeout', NULL),
    ('kept', 'accepted', 1, 6, 'sm-02', 1700000005000000, 1700000006000000,
     'unknown', 'http_503', '503 from the gateway'),
    ('kept', 'accepted', 2, 7, 'sm-01', 1700000011000000, 1700000012000000,
     'accepted', NULL, NULL),
    ('kept', 'rejected', 1, 7, 'sm-01', 1700000006000000, 1700000007000000,
     'rejected', 'invalid_message', NULL),
    ('kept', 'exhausted-attempts', 1, 7, 'sm-01', 1700000009000000,
     1700000010000000, 'rejected', 'busy', NULL),
    ('kept', 'exhausted-attempts', 2, 7, 'sm-01', 1700000010000000,
     1700000011000000, 'rejected', 'busy', NULL),
    ('kept', 'exhausted-attempts', 3, 7, 'sm-01', 1700000011000000,
     1700000012000000, 'rejected', 'busy', NULL),
    ('kept', 'exhausted-once', 1, 7, 'sm-01', 1700000009000000,
     1700000010000000, 'rejected', 'busy', NULL),
    ('kept', 'exhausted-unknown', 1, 6, 'sm-02', 1700000010000000,
     1700000011000000, 'unknown', 'leader_lost', NULL);
