
/*
 * Schedules on every store, with a clock that the test sets: changes and what they
 * leave behind, and that each planned time is one intent (G17).  Broken by: a fence
 * that is not looked at; a schedule that is moved on without its intent, or the intent
 * made without that; a next time that is computed from when something was done; rows
 * that are fired as they were read although they have changed; a revision that is not
 * compared; a schedule without a target that stops others or comes again and again;
 * an entry of the audit that is missing; a look that makes all that has been missed in
 * one transaction, or what it leaves for the next one held back by what it has made; a
 * run by hand that takes the place of an occurrence that is pending; an id of an
 * occurrence that somebody else may use, or whose intent becomes the last one of a
 * schedule that has not made it.
 */

#include "sql_clock.h"


#define SECOND  1000
#define DAY     86400000


static const sm_fence_t  a1 = { sm_str("a"), 1 };
static const sm_fence_t  b1 = { sm_str("b"), 1 };

static const sm_actor_t  alice = { sm_str("alice"), sm_str("10.0.0.1") };

static unsigned  no_push;


static const sm_contract_t *
contract_of(void *data, sm_str_t target)
{
    (void) data;

    return sm_str_eq(target, sms.target) ? &sms
           : sm_str_eq(target, push.target) && !no_push ? &push : NULL;
}


static void
open_leader(fixture_t *f)
{
    no_push = 0;
    leader_open(f, HOUR);

    /* it is looked at in a month, too */

    sql(f, "UPDATE submission_manager_leases SET expires_at = %lld",
        (long long) (START + 60 * (int64_t) DAY) * US);
}


static void
ask(fixture_t *f, sm_schedule_row_t *row, sm_schedule_op_e op, const char *id)
{
    row->op = op;
    row->id = sm_str_c(id);
    row->actor = alice;
    row->contract = contract_of;

    must(sm_store_schedules(&f->store, &f->call, row, 1) == 0);
}


static void
row_run(fixture_t *f, sm_schedule_row_t *row, const char *id, const char *intent)
{
    (void) new_call(f);
    memset(row, 0, sizeof(sm_schedule_row_t));
    row->intent_id = sm_str_c(intent);
    ask(f, row, SM_SCHEDULE_OP_RUN, id);
}


/* a field of "If-Match"; it is there until the next one */

static sm_str_t
tags(const char *format, int64_t revision)
{
    static char  text[64];

    (void) snprintf(text, sizeof(text), format, (long long) revision);

    return sm_str_c(text);
}


/* the rule and the payload as in the body of PUT */

static int
put_row(fixture_t *f, sm_schedule_row_t *row, const char *id, const char *body)
{
    sm_json_error_t  err;
    sm_schedule_rule_t  rule;

    (void) new_call(f);

    if (sm_schedule_parse(&f->call.arena, sm_str_c(body), &rule, &row->target,
                          &row->payload, &err)
        != 0)
    {
        diag("%s: %s", body, err.message);
        must(!"a rule");
    }

    must(sm_schedule_body(&f->call.arena, &rule, &row->body) == 0);

    ask(f, row, SM_SCHEDULE_OP_PUT, id);

    return row->outcome;
}


static int
put(fixture_t *f, const char *id, const char *body)
{
    sm_schedule_row_t  row;

    memset(&row, 0, sizeof(row));

    return put_row(f, &row, id, body);
}


static int
act(fixture_t *f, sm_schedule_op_e op, const char *id)
{
    sm_schedule_row_t  row;

    memset(&row, 0, sizeof(row));

    (void) new_call(f);
    ask(f, &row, op, id);

    return row.outcome;
}


static int
tick_as(fixture_t *f, const sm_fence_t *fence, sm_schedule_tick_t *tick)
{
    memset(tick, 0, sizeof(sm_schedule_tick_t));

    tick->contract = contract_of;
    tick->limit = 100;
    tick->bytes = 1024 * 1024;

    return sm_store_schedules_tick(&f->store, new_call(f), fence, tick);
}


static size_t
tick(fixture_t *f)
{
    sm_schedule_tick_t  t;

    must(tick_as(f, &a1, &t) == 0);

    return t.created;
}


/* the ids of intents, with a space between them */

static const char *
intents(fixture_t *f)
{
    const char  *text;

    text = sql_text(f, "SELECT group_concat(t, ' ') FROM (SELECT intent_id AS t "
                    "FROM submission_intents ORDER BY intent_id) AS i");

    return text ? text : "";
}


static int64_t
column(fixture_t *f, const char *name, const char *id)
{
    return sql_int(f, "SELECT coalesce(%s, 0) FROM submission_schedules WHERE "
                   "schedule_id = '%s'", name, id);
}


static const char *
last(fixture_t *f, const char *id)
{
    return sql_text(f, "SELECT last_intent_id FROM submission_schedules WHERE "
                    "schedule_id = '%s'", id);
}


static const char *
audit(fixture_t *f)
{
    const char  *text;

    text = sql_text(f, "SELECT group_concat(t, ', ') FROM (SELECT actor || ' ' || "
                    "action || ' ' || object AS t FROM submission_audit "
                    "ORDER BY seq) AS i");

    return text ? text : "";
}


static void
end_all(fixture_t *f)
{
    sql(f, "UPDATE submission_intents SET status = 'accepted'");
}


/* somebody has posted an id of a schedule that is not there yet */

static void
taken(fixture_t *f, const char *schedule, const char *time,
    const sm_contract_t *contract, int64_t not_before)
{
    char             id[64];
    sm_submit_row_t  r;

    (void) snprintf(id, sizeof(id), "%s@2001-09-09T%sZ", schedule, time);

    row(&r, id, contract, "{\"x\":1}");
    r.posted.not_before = not_before;

    must(submit(f, &r, 1) == 0 && r.outcome == SM_SUBMIT_CREATED);
}


#define EVERY(n)  "{\"submissionTarget\":\"sms\",\"every\":\"PT" #n "S\"," \
                  "\"payload\":{\"a\":1}}"


static void
test_put(void)
{
    int64_t         revision;
    fixture_t       f;
    sm_schedule_row_t  row;

    open_leader(&f);

    memset(&row, 0, sizeof(row));

    is_int(put_row(&f, &row, "s", EVERY(10)), SM_SCHEDULE_CREATED, "it is made");
    is_int(row.schedule.next_run_at, START * US + 10 * SECOND * US,
           "it begins one interval from now");
    is_int(row.schedule.revision, START * US, "it has a revision");
    is_int(row.schedule.created_at, START * US, "and a time");
    ok(!row.schedule.configured && row.schedule.paused_at == 0, "it is not paused");
    is_mem(row.schedule.actor.data, row.schedule.actor.len, "alice", 5, "whose it is");

    revision = row.schedule.revision;
    now_ms += 5 * SECOND;

    is_int(put(&f, "s", EVERY(10)), SM_SCHEDULE_DONE, "the same again");
    is_int(column(&f, "revision", "s"), revision, "changes nothing");
    is_str(audit(&f), "alice schedule_put s", "and is in the audit once");

    memset(&row, 0, sizeof(row));
    row.if_match = tags("\"%lld\", \"x\"", revision + 1);

    is_int(put_row(&f, &row, "s", EVERY(20)), SM_SCHEDULE_CHANGED,
           "another revision was expected");
    is_int(column(&f, "revision", "s"), revision, "nothing is changed");

    memset(&row, 0, sizeof(row));
    row.if_match = tags("\"x\", \"%lld\"", revision);

    is_int(put_row(&f, &row, "s", "{\"submissionTarget\":\"push\","
                   "\"every\":\"PT10S\",\"payload\":2}"), SM_SCHEDULE_DONE,
           "this one");
    ok(row.schedule.revision > revision, "the revision grows");
    is_int(row.schedule.next_run_at, START * US + 10 * SECOND * US,
           "the plan is the same, for the interval is");

    is_int(put(&f, "s", EVERY(20)), SM_SCHEDULE_DONE, "another interval");
    is_int(column(&f, "next_run_at", "s"), START * US + 25 * SECOND * US,
           "has another plan");

    memset(&row, 0, sizeof(row));
    row.if_none_match = sm_str_c("*");
    is_int(put_row(&f, &row, "s", EVERY(30)), SM_SCHEDULE_CHANGED,
           "it must not be there");
    is_int(put_row(&f, &row, "t", EVERY(30)), SM_SCHEDULE_CREATED, "t is not");

    memset(&row, 0, sizeof(row));
    row.if_match = sm_str_c("*");
    is_int(put_row(&f, &row, "u", EVERY(30)), SM_SCHEDULE_CHANGED,
           "it must be there");

    is_int(put(&f, "u", "{\"submissionTarget\":\"sms\",\"cron\":\"* * * * *\","
               "\"timeZone\":\"Europe/Nowhere\"}"), SM_SCHEDULE_NO_ZONE,
           "a zone that is none");
    is_int(put(&f, "u", "{\"submissionTarget\":\"sms\",\"every\":\"PT10S\","
               "\"endAt\":\"2001-01-01T00:00:00Z\"}"), SM_SCHEDULE_NO_TIME,
           "an end that is over");
    is_int(act(&f, SM_SCHEDULE_OP_GET, "u"), SM_SCHEDULE_NOT_FOUND, "none of it");

    is_int(put(&f, "u", "{\"submissionTarget\":\"sms\",\"cron\":\"0 3 * * *\","
               "\"timeZone\":\"Europe/Stockholm\"}"), SM_SCHEDULE_CREATED,
           "by local time");
    is_str(sql_text(&f, "SELECT next_run_at FROM submission_schedules WHERE "
                    "schedule_id = 'u'"), "1000083600000000",
           "which is 1 in UTC in September");

    is_int(act(&f, SM_SCHEDULE_OP_DELETE, "t"), SM_SCHEDULE_DONE, "it is deleted");
    is_int(act(&f, SM_SCHEDULE_OP_DELETE, "t"), SM_SCHEDULE_NOT_FOUND, "once");

    is_str(audit(&f), "alice schedule_put s, alice schedule_put s, "
           "alice schedule_put s, alice schedule_put t, alice schedule_put u, "
           "alice schedule_delete t", "the audit has all, and nothing else");

    fixture_done(&f);
}


static void
test_list(void)
{
    int              i;
    char             id[16], all[64];
    size_t           k, n, len;
    fixture_t        f;
    sm_schedule_row_t   row;
    sm_schedule_list_t  list;

    open_leader(&f);

    for (i = 0; i < 7; i++) {
        (void) snprintf(id, sizeof(id), "s%d", i);
        must(put(&f, id, EVERY(10)) == SM_SCHEDULE_CREATED);
    }

    must(put(&f, "s", EVERY(10)) == SM_SCHEDULE_CREATED);

    sql(&f, "INSERT INTO submission_schedules (lease_name, schedule_id, "
        "submission_target, body, payload_hash, source, revision, actor, "
        "created_at, last_modified_at, payload, fired_count, skipped_count, "
        "missed_count) VALUES ('other', 's9', 'sms', '{}', 'h', 'api', 1, 'x', "
        "1000000, 1000000, '', 0, 0, 0)");

    memset(&list, 0, sizeof(list));
    memset(all, 0, sizeof(all));

    list.limit = 3;
    len = 0;
    n = 0;

    (void) new_call(&f);

    do {
        must(sm_store_schedules_list(&f.store, &f.call, &list, 1) == 0);

        for (k = 0; k < list.n; k++) {
            len += snprintf(all + len, sizeof(all) - len, "%.*s ",
                            (int) list.rows[k].id.len, list.rows[k].id.data);
        }

        ok(list.n == 0 || list.rules[0].interval == 10, "with its rule");

        list.after = list.rows[list.n - 1].id;
        n++;

    } while (list.more);

    is_str(all, "s s0 s1 s2 s3 s4 s5 s6 ", "all of this manager, in order");
    is_int(n, 3, "in three pages");

    memset(&row, 0, sizeof(row));
    (void) new_call(&f);
    ask(&f, &row, SM_SCHEDULE_OP_GET, "s3");

    is_int(row.outcome, SM_SCHEDULE_DONE, "one of them");
    is_mem(row.schedule.payload.data, row.schedule.payload.len, "{\"a\":1}", 7,
           "with its payload");

    fixture_done(&f);
}


static void
test_fire(void)
{
    fixture_t        f;
    sm_schedule_tick_t  t;

    open_leader(&f);

    must(put(&f, "s", EVERY(10)) == SM_SCHEDULE_CREATED);

    now_ms += 9999;
    must(tick_as(&f, &a1, &t) == 0);
    ok(t.created == 0 && t.n == 0, "nothing is due");
    is_int(t.next_due, (START + 10 * SECOND) * US, "but will be");

    now_ms += 1;
    must(tick_as(&f, &b1, &t) != 0);
    is_int(f.call.status, SM_STORE_LEASE_LOST, "who does not lead makes none");
    is_str(intents(&f), "", "none at all");

    now_ms += 250;
    must(tick_as(&f, &a1, &t) == 0);
    is_int(t.created, 1, "the leader makes one");
    is_int(t.next_due, (START + 20 * SECOND) * US, "and knows of the next");
    is_str(intents(&f), "s@2001-09-09T01:46:50Z", "of the planned time");
    is_int(column(&f, "next_run_at", "s"), (START + 20 * SECOND) * US,
           "the next time is that of the plan");
    is_int(column(&f, "last_run_at", "s"), (START + 10 * SECOND) * US,
           "the last one, too");
    is_int(column(&f, "fired_count", "s"), 1, "it is counted");
    is_str(sql_text(&f, "SELECT payload || ' ' || submission_target || ' ' || "
                    "max_acceptance_seconds || ' ' || status FROM "
                    "submission_intents"), "{\"a\":1} sms 30 pending",
           "it is an intent as any other, by today's contract");
    is_int(tick(&f), 0, "it is made once");

    now_ms += 10 * SECOND;
    must(tick_as(&f, &a1, &t) == 0);
    ok(t.created == 0 && t.skipped == 1, "the last one has not ended");
    is_int(column(&f, "skipped_count", "s"), 1, "that is counted");
    is_int(column(&f, "fired_count", "s"), 1, "as what it is");
    is_int(column(&f, "next_run_at", "s"), (START + 30 * SECOND) * US,
           "and it goes on");

    end_all(&f);
    now_ms += 10 * SECOND;
    is_int(tick(&f), 1, "the last one has ended");
    is_str(intents(&f), "s@2001-09-09T01:46:50Z s@2001-09-09T01:47:10Z",
           "two in all");

    fixture_done(&f);
}


/* what was read is fired twice, late, and by a leader that has lost */

static void
test_twice(void)
{
    fixture_t        f;
    sm_schedule_tick_t  t;

    open_leader(&f);

    must(put(&f, "s", EVERY(10)) == SM_SCHEDULE_CREATED);
    must(put(&f, "z", EVERY(15)) == SM_SCHEDULE_CREATED);

    now_ms += 10 * SECOND;
    must(tick_as(&f, &a1, &t) == 0);
    is_int(t.created, 1, "it is made");

    f.call.status = SM_STORE_OK;
    must(sm_store_schedules_fire(&f.store, &f.call, &a1, t.rows, t.n) == 0);
    ok(!t.rows[0].done, "the same rows again: they are not as they were read");
    is_int(column(&f, "fired_count", "s"), 1, "nothing is changed");
    is_str(intents(&f), "s@2001-09-09T01:46:50Z", "one intent");

    /* as after a crash between the two, which there is not: one transaction */

    end_all(&f);
    sql(&f, "UPDATE submission_schedules SET next_run_at = %lld WHERE "
        "schedule_id = 's'", (long long) (START + 10 * SECOND) * US);
    must(tick_as(&f, &a1, &t) == 0);
    ok(t.created == 0 && t.found == 1, "an intent that is there is found");
    is_int(column(&f, "next_run_at", "s"), (START + 20 * SECOND) * US,
           "and the schedule goes on");
    is_str(intents(&f), "s@2001-09-09T01:46:50Z", "one intent");

    /* a change between reading and firing */

    now_ms += 10 * SECOND;
    must(tick_as(&f, &a1, &t) == 0);
    sql(&f, "UPDATE submission_schedules SET next_run_at = %lld, "
        "revision = revision + 1 WHERE schedule_id = 's'",
        (long long) (START + 20 * SECOND) * US);
    sql(&f, "DELETE FROM submission_intents");
    f.call.status = SM_STORE_OK;
    must(sm_store_schedules_fire(&f.store, &f.call, &a1, t.rows, t.n) == 0);
    is_str(intents(&f), "", "another revision is not fired as it was");

    sql(&f, "UPDATE submission_schedules SET revision = revision - 1, "
        "paused_at = 5 WHERE schedule_id = 's'");
    f.call.status = SM_STORE_OK;
    must(sm_store_schedules_fire(&f.store, &f.call, &a1, t.rows, 1) == 0);
    is_str(intents(&f), "", "nor one that is paused");

    sql(&f, "UPDATE submission_schedules SET paused_at = NULL");
    f.call.status = SM_STORE_OK;
    must(sm_store_schedules_fire(&f.store, &f.call, &b1, t.rows, 1) != 0);
    is_int(f.call.status, SM_STORE_LEASE_LOST, "nor by one that has lost");
    is_str(intents(&f), "", "nothing is made");
    is_int(column(&f, "next_run_at", "s"), (START + 20 * SECOND) * US,
           "nothing is moved");

    fixture_done(&f);
}


/* nobody leads for 1,000 intervals: each has its intent, to the second */

static void
test_drift(void)
{
    int              i, wrong;
    fixture_t        f;
    sm_schedule_tick_t  t;

    open_leader(&f);

    must(put(&f, "all", "{\"submissionTarget\":\"sms\",\"every\":\"PT10M\","
             "\"misfire\":\"all\"}") == SM_SCHEDULE_CREATED);
    must(put(&f, "once", "{\"submissionTarget\":\"sms\",\"every\":\"PT10M\"}")
         == SM_SCHEDULE_CREATED);
    must(put(&f, "skip", "{\"submissionTarget\":\"sms\",\"every\":\"PT10M\","
             "\"misfire\":\"skip\"}") == SM_SCHEDULE_CREATED);

    now_ms += 1000 * 600 * SECOND + 90 * SECOND;

    must(tick_as(&f, &a1, &t) == 0);
    is_int(t.created, 1000, "a thousand at once");
    ok(t.n == 1 && t.missed == 0 && !t.rows[0].due.cut, "none was cut");
    ok(t.more, "there are others");

    must(tick_as(&f, &a1, &t) == 0);
    is_int(t.created, 1, "and one");
    is_int(t.missed, 999 + 1000, "the others were missed by their rule");
    ok(t.n == 2 && !t.rows[0].due.cut && !t.more, "that was all");

    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents WHERE intent_id "
                   "LIKE 'all@%%'"), 1000, "each time has one intent");
    is_str(sql_text(&f, "SELECT min(intent_id) || ' ' || max(intent_id) FROM "
                    "submission_intents WHERE intent_id LIKE 'all@%%'"),
           "all@2001-09-09T01:56:40Z all@2001-09-16T00:26:40Z",
           "from the first to the last, without drift");
    is_str(sql_text(&f, "SELECT intent_id FROM submission_intents WHERE "
                    "intent_id LIKE 'once@%%'"), "once@2001-09-16T00:26:40Z",
           "of the other there is the latest");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents WHERE intent_id "
                   "LIKE 'skip@%%'"), 0, "of the third none: it is 90 s late");
    is_int(column(&f, "missed_count", "once"), 999, "that is counted");
    is_int(column(&f, "missed_count", "skip"), 1000, "and so is that");
    is_int(column(&f, "next_run_at", "skip"),
           (START + 1001 * 600 * SECOND) * US, "the plan stays");

    /* 100 more, one by one, each looked at with another delay */

    sql(&f, "DELETE FROM submission_intents");
    wrong = 0;

    for (i = 1001; i <= 1100; i++) {
        now_ms = START + (int64_t) i * 600 * SECOND + i * 37 % 50000;
        wrong += tick(&f) != 3;
        end_all(&f);
    }

    is_int(wrong, 0, "one each, every time");
    is_str(sql_text(&f, "SELECT max(intent_id) FROM submission_intents WHERE "
                    "intent_id LIKE 'once@%%'"), "once@2001-09-16T17:06:40Z",
           "without drift");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), 300,
           "and no other");

    now_ms += 1001 * 600 * SECOND;
    must(tick_as(&f, &a1, &t) == 0);
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents WHERE intent_id "
                   "LIKE 'all@%%'"), 1100, "a thousand at once at the most");
    is_int(column(&f, "missed_count", "all"), 1, "the others were missed");

    fixture_done(&f);
}


static void
test_pause(void)
{
    fixture_t       f;
    sm_schedule_row_t  row;

    open_leader(&f);

    must(put(&f, "s", EVERY(10)) == SM_SCHEDULE_CREATED);

    memset(&row, 0, sizeof(row));
    row.reason = sm_str_c("it's \"loud\"");
    (void) new_call(&f);
    ask(&f, &row, SM_SCHEDULE_OP_PAUSE, "s");

    is_int(row.outcome, SM_SCHEDULE_DONE, "it is paused");
    is_int(row.schedule.paused_at, START * US, "since now");
    is_str(sql_text(&f, "SELECT pause_reason FROM submission_schedules"),
           "it's \"loud\"", "for a reason");
    is_str(sql_text(&f, "SELECT detail FROM submission_audit WHERE action = "
                    "'schedule_pause'"), "{\"reason\":\"it's \\\"loud\\\"\"}",
           "which the audit has, too");
    is_int(act(&f, SM_SCHEDULE_OP_PAUSE, "s"), SM_SCHEDULE_DONE, "again");

    now_ms += 35 * SECOND;
    is_int(tick(&f), 0, "what is paused does not run");
    is_int(column(&f, "next_run_at", "s"), (START + 10 * SECOND) * US,
           "its time stays");
    is_int(put(&f, "s", "{\"submissionTarget\":\"push\",\"every\":\"PT10S\"}"),
           SM_SCHEDULE_DONE, "it can be changed");
    ok(column(&f, "paused_at", "s") != 0, "and is paused still");

    is_int(act(&f, SM_SCHEDULE_OP_RESUME, "s"), SM_SCHEDULE_DONE, "it goes on");
    is_int(act(&f, SM_SCHEDULE_OP_RESUME, "s"), SM_SCHEDULE_DONE, "again");
    is_int(tick(&f), 1, "and runs");
    is_str(intents(&f), "s@2001-09-09T01:47:10Z", "the latest, by its rule");
    is_int(column(&f, "missed_count", "s"), 2, "the others were missed");

    is_str(audit(&f), "alice schedule_put s, alice schedule_pause s, "
           "alice schedule_put s, alice schedule_resume s", "the audit");
    is_int(act(&f, SM_SCHEDULE_OP_PAUSE, "t"), SM_SCHEDULE_NOT_FOUND, "no such one");

    fixture_done(&f);
}


static void
test_run(void)
{
    fixture_t       f;
    sm_schedule_row_t  row;

    open_leader(&f);

    taken(&f, "s", "01:46:51", &push, 0);

    must(put(&f, "s", EVERY(10)) == SM_SCHEDULE_CREATED);
    now_ms += 3 * SECOND + 400;

    memset(&row, 0, sizeof(row));
    (void) new_call(&f);
    ask(&f, &row, SM_SCHEDULE_OP_RUN, "s");

    is_int(row.outcome, SM_SCHEDULE_DONE, "it runs now");
    is_str(intents(&f), "s@2001-09-09T01:46:43Z s@2001-09-09T01:46:51Z",
           "as an intent of this second");
    is_mem(row.intent.id.data, row.intent.id.len, "s@2001-09-09T01:46:43Z", 22,
           "which is the answer");
    is_int(row.intent.status, SM_STATUS_PENDING, "with its status");
    is_int(column(&f, "next_run_at", "s"), (START + 10 * SECOND) * US,
           "the next time stays");
    is_int(act(&f, SM_SCHEDULE_OP_RUN, "s"), SM_SCHEDULE_SAME, "again");
    is_str(intents(&f), "s@2001-09-09T01:46:43Z s@2001-09-09T01:46:51Z",
           "in the same second: the same");
    is_int(column(&f, "fired_count", "s"), 1, "which counts once");
    is_str(sql_text(&f, "SELECT detail FROM submission_audit WHERE action = "
                    "'schedule_run'"),
           "{\"intentId\":\"s@2001-09-09T01:46:43Z\"}", "it is in the audit");

    now_ms = START + 10 * SECOND;
    is_int(tick(&f), 0, "it is the last one, and has not ended");
    is_int(column(&f, "skipped_count", "s"), 1, "so this one is skipped");

    is_int(act(&f, SM_SCHEDULE_OP_RUN, "t"), SM_SCHEDULE_NOT_FOUND, "no such one");

    must(put(&f, "p", "{\"submissionTarget\":\"push\",\"every\":\"PT10S\"}")
         == SM_SCHEDULE_CREATED);
    no_push = 1;
    is_int(act(&f, SM_SCHEDULE_OP_RUN, "p"), SM_SCHEDULE_NO_TARGET, "no such target");

    now_ms = START + 11 * SECOND;
    is_int(act(&f, SM_SCHEDULE_OP_RUN, "s"), SM_SCHEDULE_CONFLICT,
           "somebody has an intent of that id");
    is_int(column(&f, "fired_count", "s"), 1, "and nothing was made");

    row_run(&f, &row, "s", "mine");
    is_int(row.outcome, SM_SCHEDULE_DONE, "an id of the caller's own");
    now_ms = START + 15 * SECOND;
    row_run(&f, &row, "s", "mine");
    is_int(row.outcome, SM_SCHEDULE_SAME, "later: the same intent");
    is_mem(row.intent.id.data, row.intent.id.len, "mine", 4, "is the answer");
    is_int(column(&f, "fired_count", "s"), 2, "it was made once");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_audit WHERE action = "
                   "'schedule_run'"), 2, "and is in the audit once");
    must(put(&f, "q", EVERY(10)) == SM_SCHEDULE_CREATED);
    sql(&f, "UPDATE submission_schedules SET payload = 'y' WHERE "
        "schedule_id = 'q'");
    row_run(&f, &row, "q", "mine");
    is_int(row.outcome, SM_SCHEDULE_CONFLICT, "not for another payload");

    row_run(&f, &row, "q", "s@2001-09-10T00:00:00Z");
    is_int(row.outcome, SM_SCHEDULE_RESERVED, "not as an occurrence of another one");

    fixture_done(&f);
}


/* a target that is gone, a rule that is none, an id that is another intent's */

static void
test_trouble(void)
{
    fixture_t        f;
    sm_schedule_tick_t  t;

    open_leader(&f);

    must(put(&f, "a", "{\"submissionTarget\":\"push\",\"every\":\"PT10S\"}")
         == SM_SCHEDULE_CREATED);
    must(put(&f, "b", EVERY(10)) == SM_SCHEDULE_CREATED);
    taken(&f, "c", "01:46:50", &push, 0);
    must(put(&f, "c", EVERY(10)) == SM_SCHEDULE_CREATED);
    must(put(&f, "d", EVERY(10)) == SM_SCHEDULE_CREATED);
    sql(&f, "UPDATE submission_schedules SET body = '{\"every\":7}' WHERE "
        "schedule_id = 'b'");

    no_push = 1;
    now_ms += 10 * SECOND;

    must(tick_as(&f, &a1, &t) == 0);
    is_int(t.created, 1, "the one that can run does");
    is_str(intents(&f), "c@2001-09-09T01:46:50Z d@2001-09-09T01:46:50Z",
           "it is d");
    is_str(sql_text(&f, "SELECT last_error FROM submission_schedules WHERE "
                    "schedule_id = 'a'"), "its target is not configured",
           "a says why it does not");
    is_str(sql_text(&f, "SELECT last_error FROM submission_schedules WHERE "
                    "schedule_id = 'b'"), "its rule is not understood",
           "and b");
    is_int(column(&f, "next_run_at", "c"), (START + 20 * SECOND) * US,
           "c goes on: its id is taken");
    is_int(column(&f, "next_run_at", "a"), (START + 10 * SECOND) * US,
           "a has its time still");

    must(tick_as(&f, &a1, &t) == 0);
    is_int(t.n, 0, "nothing comes again");
    is_int(t.next_due, (START + 20 * SECOND) * US, "nor is it waited for");

    memset(&t, 0, sizeof(t));
    t.contract = contract_of;
    t.limit = 2;
    must(sm_store_schedules_seed(&f.store, new_call(&f), &a1, NULL, 0, &t)
         == 0);
    ok(sql_text(&f, "SELECT last_error FROM submission_schedules WHERE "
                "schedule_id = 'a'") != NULL
       && tick(&f) == 0, "another leader without the target finds the same");

    no_push = 0;
    must(sm_store_schedules_seed(&f.store, new_call(&f), &a1, NULL, 0, &t)
         == 0);
    is_int(tick(&f), 1, "one that has it lets it run");
    is_str(sql_text(&f, "SELECT min(intent_id) FROM submission_intents"),
           "a@2001-09-09T01:46:50Z", "at the time that it had");

    fixture_done(&f);
}


static void
seed(fixture_t *f, sm_schedule_row_t *row, const char *id, const char *body)
{
    sm_json_error_t  err;
    sm_schedule_rule_t  rule;

    static const sm_actor_t  actor = { sm_str("configuration"), sm_str("") };

    memset(row, 0, sizeof(sm_schedule_row_t));

    must(sm_schedule_parse(&f->call.arena, sm_str_c(body), &rule, &row->target,
                           &row->payload, &err) == 0);
    must(sm_schedule_body(&f->call.arena, &rule, &row->body) == 0);

    row->op = SM_SCHEDULE_OP_PUT;
    row->id = sm_str_c(id);
    row->actor = actor;
    row->configured = 1;
}


static void
test_seed(void)
{
    int64_t          revision;
    fixture_t        f;
    sm_schedule_row_t   seeds[3];
    sm_schedule_tick_t  t;

    open_leader(&f);

    must(put(&f, "mine", EVERY(10)) == SM_SCHEDULE_CREATED);
    must(put(&f, "both", EVERY(10)) == SM_SCHEDULE_CREATED);

    memset(&t, 0, sizeof(t));
    t.contract = contract_of;
    t.limit = 2;

    (void) new_call(&f);
    seed(&f, &seeds[0], "nightly", "{\"submissionTarget\":\"push\","
         "\"cron\":\"0 2 * * *\",\"payload\":{}}");
    seed(&f, &seeds[1], "both", EVERY(20));
    seed(&f, &seeds[2], "third", EVERY(20));

    must(sm_store_schedules_seed(&f.store, &f.call, &b1, seeds, 3, &t) != 0);
    is_int(f.call.status, SM_STORE_LEASE_LOST, "only a leader seeds");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_schedules"), 2,
           "nothing is changed");

    f.call.status = SM_STORE_OK;
    must(sm_store_schedules_seed(&f.store, &f.call, &a1, seeds, 3, &t) == 0);
    is_int(sql_int(&f, "SELECT count(*) FROM submission_schedules WHERE source "
                   "= 'configuration'"), 3, "there are three of them");
    is_str(sql_text(&f, "SELECT source FROM submission_schedules WHERE "
                    "schedule_id = 'both'"), "configuration",
           "the configuration has the last word");

    revision = column(&f, "revision", "nightly");
    now_ms += 5 * SECOND;

    is_int(put(&f, "nightly", EVERY(10)), SM_SCHEDULE_CONFIGURED,
           "it is not changed by HTTP");
    is_int(act(&f, SM_SCHEDULE_OP_DELETE, "nightly"), SM_SCHEDULE_CONFIGURED,
           "nor deleted");
    is_int(act(&f, SM_SCHEDULE_OP_PAUSE, "nightly"), SM_SCHEDULE_DONE,
           "but it can be paused");
    ok(column(&f, "revision", "nightly") > revision, "which is a change");
    revision = column(&f, "revision", "nightly");

    (void) new_call(&f);
    seed(&f, &seeds[0], "nightly", "{\"submissionTarget\":\"push\","
         "\"cron\":\"0 2 * * *\",\"payload\":{}}");
    seed(&f, &seeds[1], "third", EVERY(30));

    must(sm_store_schedules_seed(&f.store, &f.call, &a1, seeds, 2, &t) == 0);
    is_int(column(&f, "revision", "nightly"), revision, "the same is the same");
    ok(column(&f, "paused_at", "nightly") != 0, "and stays paused");
    is_int(column(&f, "next_run_at", "third"), (START + 35 * SECOND) * US,
           "another rule has another time");
    is_str(sql_text(&f, "SELECT group_concat(schedule_id, ' ') FROM (SELECT "
                    "schedule_id FROM submission_schedules ORDER BY "
                    "schedule_id) AS s"), "mine nightly third",
           "what is not there any more is removed, and nothing else");

    fixture_done(&f);
}


/* more than one page, and payloads that do not fit into one */

static void
test_many(void)
{
    int              i;
    char             id[16];
    fixture_t        f;
    sm_schedule_tick_t  t;

    open_leader(&f);

    for (i = 0; i < 25; i++) {
        (void) snprintf(id, sizeof(id), "s%02d", i);
        must(put(&f, id, EVERY(10)) == SM_SCHEDULE_CREATED);
    }

    now_ms += 10 * SECOND;

    memset(&t, 0, sizeof(t));
    t.contract = contract_of;
    t.limit = 10;
    t.bytes = 1024 * 1024;

    must(sm_store_schedules_tick(&f.store, new_call(&f), &a1, &t) == 0);
    ok(t.created == 10 && t.more, "ten, and there are more");

    t.bytes = 20;
    t.created = 0;
    must(sm_store_schedules_tick(&f.store, new_call(&f), &a1, &t) == 0);
    ok(t.created == 3 && t.more, "three, for their payloads have 21 bytes");

    t.limit = 100;
    t.bytes = 1024 * 1024;
    t.created = 0;
    must(sm_store_schedules_tick(&f.store, new_call(&f), &a1, &t) == 0);
    ok(t.created == 12 && !t.more, "and the rest");
    is_int(sql_int(&f, "SELECT count(*) FROM submission_intents"), 25,
           "one each");

    fixture_done(&f);
}


/* one schedule after the parts of it: as if they had been made at once */

static void
made(fixture_t *f, const char *id, int64_t fired, int64_t missed, int64_t next,
    const char *first, const char *last)
{
    is_int(sql_int(f, "SELECT count(*) FROM submission_intents WHERE intent_id "
                   "LIKE '%s@%%'", id), fired, "%s: each time has its intent", id);
    is_str(sql_text(f, "SELECT min(intent_id) FROM submission_intents WHERE "
                    "intent_id LIKE '%s@%%'", id), first, "%s: the first", id);
    is_str(sql_text(f, "SELECT max(intent_id) FROM submission_intents WHERE "
                    "intent_id LIKE '%s@%%'", id), last, "%s: the last", id);
    is_int(column(f, "fired_count", id), fired, "%s: they are counted", id);
    is_int(column(f, "missed_count", id), missed,
           "%s: so is once what was missed", id);
    is_int(column(f, "skipped_count", id), 0, "%s: none was skipped", id);
    is_int(column(f, "next_run_at", id), (START + next * SECOND) * US,
           "%s: the next time", id);
    is_str(sql_text(f, "SELECT last_intent_id FROM submission_schedules WHERE "
                    "schedule_id = '%s'", id), last, "%s: its last intent", id);
}


/* looks until nothing is left, none of which makes too much */

static int
looks(fixture_t *f, const sm_fence_t *fence, size_t *created)
{
    int              n;
    size_t           i, k, bytes, most, most_bytes;
    sm_schedule_tick_t  t;

    *created = 0;
    most = 0;
    most_bytes = 0;
    n = 0;

    do {
        must(tick_as(f, fence, &t) == 0);
        must(t.schedules == t.n && t.found == 0);

        for (i = 0, k = 0, bytes = 0; i < t.n; i++) {
            k += t.rows[i].due.n;
            bytes += t.rows[i].due.n * t.rows[i].schedule->payload.len;
        }

        must(k == t.created);

        most = k > most ? k : most;
        most_bytes = bytes > most_bytes ? bytes : most_bytes;
        *created += k;

    } while (t.more && ++n < 100);

    ok(most <= 1000, "a look makes 1000 intents at most: %zu", most);
    ok(most_bytes <= 4 * 1024 * 1024, "with 4 MB at most: %zu", most_bytes);
    is_int(t.more, 0, "they come to an end");

    return n + 1;
}


static void
put_large(fixture_t *f, const char *id, const char *every, size_t size)
{
    int    len;
    char  *body;

    body = malloc(size + 256);
    must(body != NULL);

    len = snprintf(body, 256, "{\"submissionTarget\":\"sms\",\"every\":\"%s\","
                   "\"misfire\":\"all\",\"payload\":\"", every);
    memset(body + len, 'x', size - 2);
    memcpy(body + len + size - 2, "\"}", 3);

    must(put(f, id, body) == SM_SCHEDULE_CREATED);

    free(body);
}


#define ALL(every)  "{\"submissionTarget\":\"sms\",\"every\":\"" every "\"," \
                    "\"misfire\":\"all\",\"payload\":1}"


/*
 * What has been missed is made in several looks, each in a transaction of its
 * own.  That nothing of it ends meanwhile makes no difference, for the overlap
 * is with what was before.
 */

static void
test_parts(void)
{
    int              n;
    char             id[16], first[48], last[48];
    size_t           i, created;
    fixture_t        f;
    sm_schedule_tick_t  t;

    static const sm_fence_t  b2 = { sm_str("b"), 2 };

    open_leader(&f);

    for (i = 0; i < 4; i++) {
        (void) snprintf(id, sizeof(id), "m%zu", i);
        must(put(&f, id, ALL("PT30S")) == SM_SCHEDULE_CREATED);
    }

    must(put(&f, "cut", ALL("PT10S")) == SM_SCHEDULE_CREATED);
    must(put(&f, "once", EVERY(10)) == SM_SCHEDULE_CREATED);
    put_large(&f, "big", "PT10S", 8192);
    put_large(&f, "huge", "PT2000S", 1000000);

    now_ms += 13005 * SECOND;

    n = looks(&f, &a1, &created);

    ok(n >= 7, "there were some: %d", n);
    is_int(created, 4 * 433 + 1000 + 1 + 1000 + 6, "all were made");

    for (i = 0; i < 4; i++) {
        (void) snprintf(id, sizeof(id), "m%zu", i);
        (void) snprintf(first, sizeof(first), "%s@2001-09-09T01:47:10Z", id);
        (void) snprintf(last, sizeof(last), "%s@2001-09-09T05:23:10Z", id);
        made(&f, id, 433, 0, 13020, first, last);
    }

    made(&f, "cut", 1000, 300, 13010, "cut@2001-09-09T02:36:50Z",
         "cut@2001-09-09T05:23:20Z");
    made(&f, "big", 1000, 300, 13010, "big@2001-09-09T02:36:50Z",
         "big@2001-09-09T05:23:20Z");
    made(&f, "huge", 6, 0, 14000, "huge@2001-09-09T02:20:00Z",
         "huge@2001-09-09T05:06:40Z");
    made(&f, "once", 1, 1299, 13010, "once@2001-09-09T05:23:20Z",
         "once@2001-09-09T05:23:20Z");

    /* the last part is what the next time must not overlap with */

    now_ms = START + 14000 * SECOND;
    sql(&f, "UPDATE submission_intents SET status = 'accepted' WHERE intent_id "
        "<> 'huge@2001-09-09T05:06:40Z'");
    (void) looks(&f, &a1, &created);
    is_int(column(&f, "skipped_count", "huge"), 1, "the last one is pending");
    is_int(column(&f, "fired_count", "huge"), 6, "so this time has none");

    /* another leader goes on where the first one was */

    end_all(&f);
    now_ms = START + 30005 * SECOND;
    sql(&f, "DELETE FROM submission_schedules WHERE schedule_id <> 'huge'");

    must(tick_as(&f, &a1, &t) == 0);
    ok(t.n == 1 && t.created == 4 && t.more, "four of eight: %zu", t.created);
    is_int(column(&f, "next_run_at", "huge"), (START + 24000 * SECOND) * US,
           "the fifth is the next");
    is_int(column(&f, "last_run_at", "huge"), (START + 22000 * SECOND) * US,
           "the fourth was the last");

    sql(&f, "UPDATE submission_manager_leases SET holder_id = 'b', "
        "lease_epoch = 2");
    must(tick_as(&f, &a1, &t) != 0);
    is_int(f.call.status, SM_STORE_LEASE_LOST, "who led makes no more");

    is_int(looks(&f, &b2, &created), 1, "who leads needs one look");
    is_int(created, 4, "which makes the rest");
    is_int(column(&f, "fired_count", "huge"), 14, "of each time one");
    is_int(column(&f, "skipped_count", "huge"), 1, "none of them is skipped");
    is_int(column(&f, "missed_count", "huge"), 0, "nor missed");
    is_int(column(&f, "next_run_at", "huge"), (START + 32000 * SECOND) * US,
           "and it goes on");

    fixture_done(&f);
}


/* it is the planned occurrence with which the next one must not overlap */

static void
test_run_overlap(void)
{
    fixture_t       f;
    sm_schedule_row_t  row;

    open_leader(&f);

    must(put(&f, "s", EVERY(10)) == SM_SCHEDULE_CREATED);

    now_ms = START + 10 * SECOND;
    must(tick(&f) == 1);

    now_ms = START + 13 * SECOND;
    row_run(&f, &row, "s", "mine");
    must(row.outcome == SM_SCHEDULE_DONE);
    is_str(sql_text(&f, "SELECT last_intent_id FROM submission_schedules"),
           "s@2001-09-09T01:46:50Z", "the last one is pending, and stays it");
    is_int(column(&f, "last_run_at", "s"), (START + 10 * SECOND) * US,
           "and so does its time");
    is_int(column(&f, "last_fired_at", "s"), (START + 10 * SECOND) * US,
           "and when that was");
    is_int(column(&f, "fired_count", "s"), 2, "though it has made two");

    sql(&f, "UPDATE submission_intents SET status = 'accepted' WHERE intent_id "
        "= 'mine'");
    now_ms = START + 20 * SECOND;
    is_int(tick(&f), 0, "the run has ended, the occurrence has not");
    is_int(column(&f, "skipped_count", "s"), 1, "so the next one is skipped");

    end_all(&f);
    now_ms = START + 23 * SECOND;
    row_run(&f, &row, "s", "mine-2");
    must(row.outcome == SM_SCHEDULE_DONE);
    is_str(sql_text(&f, "SELECT last_intent_id FROM submission_schedules"),
           "mine-2", "after the end of both, the run is the last one");
    is_int(column(&f, "last_run_at", "s"), (START + 23 * SECOND) * US,
           "with its time");
    is_int(column(&f, "last_fired_at", "s"), (START + 23 * SECOND) * US,
           "which is when that was");

    now_ms = START + 30 * SECOND;
    is_int(tick(&f), 0, "which is pending");
    is_int(column(&f, "skipped_count", "s"), 2, "and holds the next one back");

    sql(&f, "DELETE FROM submission_intents");
    now_ms = START + 33 * SECOND;
    row_run(&f, &row, "s", "mine-3");
    must(row.outcome == SM_SCHEDULE_DONE);
    is_str(sql_text(&f, "SELECT last_intent_id FROM submission_schedules"),
           "mine-3", "one that is not there any more is not pending");

    end_all(&f);
    now_ms = START + 40 * SECOND;
    is_int(tick(&f), 1, "nothing is pending");
    is_str(sql_text(&f, "SELECT last_intent_id FROM submission_schedules"),
           "s@2001-09-09T01:47:20Z", "a planned one is the last in any case");

    /* what is due, as nobody leads or it is paused, is not being made */

    end_all(&f);
    now_ms = START + 55 * SECOND;
    row_run(&f, &row, "s", "mine-4");
    end_all(&f);
    row_run(&f, &row, "s", "mine-5");
    is_str(sql_text(&f, "SELECT last_intent_id FROM submission_schedules"),
           "mine-5", "a run before a time that is late is the last one");
    is_int(tick(&f), 0, "and holds that back");

    fixture_done(&f);
}


/* runs between the parts of what was missed: the rest of it is made still */

static void
test_run_parts(void)
{
    fixture_t        f;
    sm_schedule_row_t   row;
    sm_schedule_tick_t  t;

    open_leader(&f);

    put_large(&f, "s", "PT10S", 1000000);

    now_ms = START + 65 * SECOND;
    must(tick_as(&f, &a1, &t) == 0);
    must(t.created == 4 && t.more);

    row_run(&f, &row, "s", "mine");
    must(row.outcome == SM_SCHEDULE_DONE);
    row_run(&f, &row, "s", "mine-2");
    must(row.outcome == SM_SCHEDULE_DONE);
    is_int(column(&f, "next_run_at", "s"), (START + 50 * SECOND) * US,
           "the next part is where it was");
    is_int(column(&f, "last_run_at", "s"), (START + 40 * SECOND) * US,
           "and so is the last one");

    must(tick_as(&f, &a1, &t) == 0);
    ok(t.created == 2 && !t.more, "what was left is made: %zu", t.created);
    is_int(column(&f, "skipped_count", "s"), 0, "the runs hold nothing back");
    is_int(column(&f, "fired_count", "s"), 8, "six times, and two by hand");
    is_str(sql_text(&f, "SELECT last_intent_id FROM submission_schedules"),
           "s@2001-09-09T01:47:40Z", "the last one is the last of the plan");

    fixture_done(&f);
}


/*
 * The ids of a schedule's occurrences belong to it.  Somebody who has posted one
 * of them before the schedule was there takes the place of that one occurrence,
 * and holds back none after it.
 */

static void
test_reserved(void)
{
    size_t                 i;
    fixture_t              f;
    sm_submit_row_t        r[8];

    static const char     *ids[] = {
        "s@2001-09-09T01:46:50Z", "s@2026-01-01T00:00:00Z",
        "t@2026-01-01T00:00:00Z", "s@2026-01-01T00:00:00Z~1",
        "s@2026-01-01T00:00:0xZ", "ss@2026-01-01T00:00:00Z",
        "@2026-01-01T00:00:00Z", "s 2026-01-01T00:00:00Z"
    };
    static const unsigned  outcomes[] = {
        SM_SUBMIT_RESERVED, SM_SUBMIT_RESERVED, SM_SUBMIT_CREATED,
        SM_SUBMIT_CREATED, SM_SUBMIT_CREATED, SM_SUBMIT_CREATED,
        SM_SUBMIT_CREATED, SM_SUBMIT_CREATED
    };

    open_leader(&f);

    taken(&f, "s", "01:47:00", &sms, (START + 365 * (int64_t) DAY) * US);
    must(put(&f, "s", EVERY(10)) == SM_SCHEDULE_CREATED);

    for (i = 0; i < 8; i++) {
        row(&r[i], ids[i], &sms, "{\"a\":1}");
    }

    must(submit(&f, r, 8) == 0);

    for (i = 0; i < 8; i++) {
        is_int(r[i].outcome, outcomes[i], "%s", ids[i]);
    }

    is_int(outcome(&f, ids[0], &sms, "{\"a\":1}"), SM_SUBMIT_RESERVED,
           "alone, too");

    now_ms += 10 * SECOND;
    is_int(tick(&f), 1, "the schedule makes its own");
    is_str(last(&f, "s"), "s@2001-09-09T01:46:50Z", "which is its last");

    for (i = 0; i < 2; i++) {
        row(&r[i], ids[i], &sms, "{\"a\":1}");
    }

    must(submit(&f, r, 2) == 0);
    is_int(r[0].outcome, SM_SUBMIT_SAME,
           "a duplicate of what is there is told so");
    is_int(r[1].outcome, SM_SUBMIT_RESERVED, "and the other is not there");

    end_all(&f);
    sql(&f, "UPDATE submission_intents SET status = 'pending' WHERE intent_id = "
        "'s@2001-09-09T01:47:00Z'");

    now_ms += 10 * SECOND;
    is_int(tick(&f), 0, "one was taken before the schedule was there");
    is_str(last(&f, "s"), "s@2001-09-09T01:46:50Z", "it is not its last");

    now_ms += 10 * SECOND;
    is_int(tick(&f), 1, "and holds nothing back");
    is_str(last(&f, "s"), "s@2001-09-09T01:47:10Z", "the next one is");

    must(act(&f, SM_SCHEDULE_OP_DELETE, "s") == SM_SCHEDULE_DONE);
    is_int(outcome(&f, ids[1], &sms, "{\"a\":1}"), SM_SUBMIT_CREATED,
           "without the schedule it is anybody's");

    fixture_done(&f);
}


int
main(void)
{
    sql_clock_start();

    test_put();
    test_list();
    test_fire();
    test_twice();
    test_drift();
    test_pause();
    test_run();
    test_trouble();
    test_seed();
    test_many();
    test_parts();
    test_run_overlap();
    test_run_parts();
    test_reserved();

    return done_testing();
}
