-- Who did what, in the transaction that did it.

INSERT INTO submission_audit (
    lease_name, at, actor, address, action, object, detail
)
VALUES (:lease_name, :at, :actor, :address, :action, :object, :detail);
