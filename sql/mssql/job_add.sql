-- Makes a job, unless there is one of its kind and id.  outcome is 1: it was made, 2: it
-- existed before.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_job_add
    @lease_name varchar(64),
    @kind varchar(16),
    @job_id nvarchar(400),
    @filter nvarchar(4000),
    @max bigint,
    @actor nvarchar(max),
    @address nvarchar(max),
    @detail nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @tries int, @inserted int, @action varchar(32);

    SET @action = @kind + '_job';
    SET @tries = 0;

    WHILE 1 = 1
    BEGIN
        BEGIN TRY
            BEGIN TRANSACTION;

            SET @now = submission.submission_now();

            INSERT INTO submission.submission_jobs (
                lease_name, kind, job_id, filter, max_intents, state, actor,
                created_at, last_modified_at
            )
            SELECT @lease_name, @kind, @job_id, @filter, @max, 'running',
                   submission.submission_left(COALESCE(@actor, N''), 200), @now,
                   @now
            WHERE NOT EXISTS (
                      SELECT 1
                      FROM submission.submission_jobs AS s
                      WHERE s.lease_name = @lease_name AND s.kind = @kind
                            AND s.job_id = @job_id
                  );

            SET @inserted = @@ROWCOUNT;

            IF @inserted = 1
                EXECUTE submission.submission_audit_add @lease_name, @now,
                        @actor, @address, @action, @job_id, @detail;

            COMMIT TRANSACTION;
            BREAK;
        END TRY
        BEGIN CATCH
            IF @@TRANCOUNT > 0
                ROLLBACK TRANSACTION;

            SET @tries = @tries + 1;

            IF ERROR_NUMBER() NOT IN (2627, 2601) OR @tries >= 20
                THROW;
        END CATCH;
    END;

    SELECT CAST(CASE WHEN @inserted = 1 THEN 1 ELSE 2 END AS bigint) AS outcome,
           j.*
    FROM submission.submission_job_shown(@lease_name, @kind, @job_id) AS j
    WHERE j.job_id IS NOT NULL;
END
GO
