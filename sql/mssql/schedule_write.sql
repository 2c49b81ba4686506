-- Changes a schedule if it still has the revision, which is 0 if it does not exist yet;
-- then done is 1.  @action is put, delete, pause, resume or retry.  A retry is no action of
-- a person: it does not make another revision, and is not in the audit.  Without
-- @holder_id the caller is not an executor.

SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

CREATE OR ALTER PROCEDURE submission.submission_schedule_write
    @lease_name varchar(64),
    @holder_id nvarchar(128),
    @lease_epoch bigint,
    @action varchar(16),
    @schedule_id nvarchar(400),
    @revision bigint,
    @submission_target nvarchar(256),
    @body nvarchar(4000),
    @payload_hash varchar(64),
    @source varchar(16),
    @next_run_at bigint,
    @payload varbinary(max),
    @reason nvarchar(max),
    @actor nvarchar(max),
    @address nvarchar(max),
    @detail nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @now datetime2(6), @us bigint, @done int, @who nvarchar(200),
            @audit varchar(32);

    SET @who = submission.submission_left(COALESCE(@actor, N''), 200);
    SET @audit = 'schedule_' + @action;

    BEGIN TRY
        BEGIN TRANSACTION;

        IF @holder_id IS NULL
            SET @now = submission.submission_now();
        ELSE
            EXECUTE submission.submission_fence @lease_name, @holder_id,
                                                @lease_epoch, @now OUTPUT;

        SET @us = submission.submission_us(@now);

        IF @action = 'put' AND @revision = 0
        BEGIN
            INSERT INTO submission.submission_schedules (
                lease_name, schedule_id, submission_target, body,
                payload_hash, source, revision, next_run_at, actor,
                created_at, last_modified_at, payload
            )
            SELECT @lease_name, @schedule_id, @submission_target, @body,
                   @payload_hash, @source, @us,
                   submission.submission_at(@next_run_at), @who, @now, @now,
                   COALESCE(@payload, CAST('' AS varbinary(max)))
            WHERE NOT EXISTS (
                      SELECT 1
                      FROM submission.submission_schedules AS s
                           WITH (FORCESEEK (submission_schedules_pk
                                            (lease_name, schedule_id)))
                      WHERE s.lease_name = @lease_name
                            AND s.schedule_id = @schedule_id
                  );

            SET @done = @@ROWCOUNT;
        END;
        ELSE IF @action = 'put'
        BEGIN
            UPDATE submission.submission_schedules
            SET submission_target = @submission_target,
                body = @body,
                payload_hash = @payload_hash,
                source = @source,
                revision = CASE WHEN revision >= @us THEN revision + 1
                                ELSE @us END,
                next_run_at = submission.submission_at(@next_run_at),
                last_error = NULL,
                actor = @who,
                last_modified_at = @now,
                payload = COALESCE(@payload, CAST('' AS varbinary(max)))
            WHERE lease_name = @lease_name AND schedule_id = @schedule_id
                  AND revision = @revision;

            SET @done = @@ROWCOUNT;
        END;
        ELSE IF @action = 'delete'
        BEGIN
            DELETE FROM submission.submission_schedules
            WHERE lease_name = @lease_name AND schedule_id = @schedule_id
                  AND revision = @revision;

            SET @done = @@ROWCOUNT;
        END;
        ELSE
        BEGIN
            UPDATE submission.submission_schedules
            SET revision = CASE WHEN @action = 'retry' THEN revision
                                WHEN revision >= @us THEN revision + 1
                                ELSE @us END,
                paused_at = CASE WHEN @action = 'pause' THEN @now
                                 WHEN @action = 'resume' THEN NULL
                                 ELSE paused_at END,
                pause_reason = CASE WHEN @action = 'pause'
                                    THEN submission.submission_left(@reason, 500)
                                         COLLATE Latin1_General_BIN2
                                    WHEN @action = 'resume' THEN NULL
                                    ELSE pause_reason END,
                last_error = CASE WHEN @action = 'pause' THEN last_error END,
                actor = CASE WHEN @action = 'retry' THEN actor
                             ELSE @who COLLATE Latin1_General_BIN2 END,
                last_modified_at = @now
            WHERE lease_name = @lease_name AND schedule_id = @schedule_id
                  AND revision = @revision;

            SET @done = @@ROWCOUNT;
        END;

        IF @done = 1 AND @action <> 'retry'
            EXECUTE submission.submission_audit_add @lease_name, @now, @actor,
                    @address, @audit, @schedule_id, @detail;

        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0
            ROLLBACK TRANSACTION;

        -- Somebody else has just made the schedule.

        IF ERROR_NUMBER() NOT IN (2627, 2601)
            THROW;

        SET @done = 0;
    END CATCH;

    SELECT submission.submission_us(@now) AS now, @done AS done;
END
GO
