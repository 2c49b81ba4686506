-- Adds an entry to the audit, in the transaction of the action itself.

INSERT INTO submission_audit (
    lease_name, at, actor, address, action, object, detail
)
VALUES (:lease_name, :at, :actor, :address, :action, :object, :detail);
