
/*
 * The fingerprint of a configuration: the same whatever the order in which it
 * is written, and another one for each thing that matters, in the part that it
 * belongs to.  Broken by: a field that is left out, a part that depends on the
 * order, a secret in the hash that people see, a list of names that is not
 * bounded.
 */

#include <stdio.h>
#include <stdlib.h>

#include "sm_fingerprint.h"
#include "sm_lease.h"
#include "tap.h"


/* A configuration of two targets, a webhook and two schedules. */

typedef struct {
    sm_contract_t            contracts[3];
    sm_fingerprint_target_t  targets[3];
    sm_schedule_row_t        schedules[2];
    sm_fingerprint_lease_t   lease;
    sm_retention_rules_t     retention;
    int64_t                  inbox;
} conf_t;

#define BIT(part)  (1u << SM_CONFIG_##part)


static void
conf_init(conf_t *c)
{
    size_t  i;

    memset(c, 0, sizeof(conf_t));

    for (i = 0; i < 3; i++) {
        c->contracts[i] = (sm_contract_t) {
            .target = sm_str("sms"), .gateway_type = SM_GATEWAY_SMS,
            .gateway_url = sm_str("https://me:pw@sms.example:8443/send"),
            .policy = SM_POLICY_DEADLINE, .max_acceptance_seconds = 30,
            .max_attempts = 4, .terminal_outcomes = sm_str("invalid_a b"),
            .retry_delay = 5000, .retry_max = 60000, .retry_backoff = 200,
            .retry_jitter = 20, .retry_schedule = sm_str("1 2"),
            .notify = sm_str("accepted:ops rejected:ops")
        };

        c->targets[i].contract = &c->contracts[i];
        c->targets[i].limit.concurrency = 8;
        c->targets[i].limit.rules.rate = 60;
        c->targets[i].limit.rules.burst = 5;
        c->targets[i].limit.rules.circuit.failures = 3;
        c->targets[i].limit.rules.circuit.open = 10;
        c->targets[i].limit.rules.circuit.max_open = 20;
        c->targets[i].keys = sm_str_c("v1,abc");
    }

    c->contracts[1].target = sm_str_c("push");
    c->contracts[1].policy = SM_POLICY_MAX_ATTEMPTS;
    c->contracts[2].target = sm_str_c("webhook ops");
    c->contracts[2].gateway_type = SM_GATEWAY_WEBHOOK;
    c->targets[2].events = 6;

    for (i = 0; i < 2; i++) {
        c->schedules[i].id = sm_str_c(i ? "nightly" : "hourly");
        c->schedules[i].target = sm_str_c("sms");
        c->schedules[i].body = sm_str_c("{\"every\":\"PT1H\"}");
        c->schedules[i].payload = sm_str_c("{}");
    }

    c->lease = (sm_fingerprint_lease_t) { 15000, 5000, 5000, 1000, 1 };

    for (i = 0; i < SM_STATUS_COUNT; i++) {
        c->retention.statuses[i].strip = 100 + i;
        c->retention.statuses[i].forget = 200 + i;
    }

    c->retention.audit = 1;
    c->retention.refused = 2;
    c->retention.jobs = 3;
    c->inbox = 65536;
}


/* "turn" is where the order of targets and schedules begins */

static const char *
text_of(const conf_t *c, size_t turn, char buf[SM_CONFIG_TEXT_MAX + 1])
{
    size_t            i;
    uint32_t          names[3];
    sm_out_t          out;
    sm_fingerprint_t  fp;

    memset(&fp, 0, sizeof(sm_fingerprint_t));
    fp.names = names;

    for (i = 0; i < 3; i++) {
        if (sm_fingerprint_target(&fp, &c->targets[(i + turn) % 3]) != 0) {
            return "no memory";
        }
    }

    for (i = 0; i < 2; i++) {
        if (sm_fingerprint_schedule(&fp, &c->schedules[(i + turn) % 2]) != 0) {
            return "no memory";
        }
    }

    sm_fingerprint_lease(&fp, &c->lease);
    sm_fingerprint_retention(&fp, &c->retention);
    sm_fingerprint_inbox(&fp, c->inbox);

    sm_out_init(&out, buf, SM_CONFIG_TEXT_MAX);
    sm_config_text_out(&out, fp.parts);
    *out.last = '\0';

    return out.full || fp.n != 2 ? "too long" : buf;
}


static const char *
short_of(const char *text)
{
    sm_out_t     out;
    static char  buf[SM_CONFIG_SHORT + 1];

    sm_out_init(&out, buf, SM_CONFIG_SHORT);
    sm_config_short_out(&out, sm_str_c(text));
    *out.last = '\0';

    return buf;
}


/* A field of the configuration, another value of it, and where that shows. */

typedef struct {
    const char  *what;
    size_t       offset;
    size_t       size;              /* of a number; 0: a text */
    const char  *text;
    unsigned     parts;
} change_t;

#define TEXT(field, value, parts)                                             \
    { #field, offsetof(conf_t, field), 0, value, parts }
#define NUMBER(field, parts)                                                  \
    { #field, offsetof(conf_t, field), sizeof(((conf_t *) 0)->field), NULL,   \
      parts }

static const change_t  changes[] = {
    TEXT(contracts[0].target, "sms2", BIT(TARGETS) | BIT(SECRETS)),
    TEXT(contracts[0].gateway_url, "https://me:pw@sms.example:8443/sent",
         BIT(TARGETS)),
    TEXT(contracts[0].gateway_url, "https://me:pw@sms.example:8444/send",
         BIT(TARGETS)),
    TEXT(contracts[0].gateway_url, "http://me:pw@sms.example:8443/send",
         BIT(TARGETS)),
    TEXT(contracts[0].gateway_url, "https://me:PW@sms.example:8443/send",
         BIT(SECRETS)),
    TEXT(contracts[0].gateway_url, "https://sms.example:8443/send",
         BIT(SECRETS)),
    TEXT(contracts[0].terminal_outcomes, "invalid_a", BIT(TARGETS)),
    TEXT(contracts[0].terminal_outcomes, "b invalid_a", 0),
    TEXT(contracts[0].retry_schedule, "2 1", BIT(TARGETS)),
    TEXT(contracts[0].notify, "accepted:ops", BIT(TARGETS)),
    TEXT(contracts[0].notify, "rejected:ops accepted:ops", 0),
    NUMBER(contracts[0].gateway_type, BIT(TARGETS)),
    NUMBER(contracts[0].policy, BIT(TARGETS)),
    NUMBER(contracts[0].max_acceptance_seconds, BIT(TARGETS)),
    NUMBER(contracts[0].max_attempts, 0),
    NUMBER(contracts[1].max_attempts, BIT(TARGETS)),
    NUMBER(contracts[0].retry_delay, BIT(TARGETS)),
    NUMBER(contracts[0].retry_max, BIT(TARGETS)),
    NUMBER(contracts[0].retry_backoff, BIT(TARGETS)),
    NUMBER(contracts[0].retry_jitter, BIT(TARGETS)),
    NUMBER(targets[1].limit.concurrency, BIT(TARGETS)),
    NUMBER(targets[1].limit.rules.rate, BIT(TARGETS)),
    NUMBER(targets[1].limit.rules.burst, BIT(TARGETS)),
    NUMBER(targets[1].limit.rules.circuit.failures, BIT(TARGETS)),
    NUMBER(targets[1].limit.rules.circuit.open, BIT(TARGETS)),
    NUMBER(targets[1].limit.rules.circuit.max_open, BIT(TARGETS)),
    NUMBER(targets[1].limit.units, 0),
    TEXT(targets[1].keys, "v1,def", BIT(SECRETS)),

    TEXT(contracts[2].target, "webhook ope", BIT(WEBHOOKS) | BIT(SECRETS)),
    TEXT(contracts[2].gateway_url, "https://me:pw@sms.example/send",
         BIT(WEBHOOKS)),
    NUMBER(contracts[2].retry_delay, BIT(WEBHOOKS)),
    NUMBER(targets[2].limit.concurrency, BIT(WEBHOOKS)),
    NUMBER(targets[2].events, BIT(WEBHOOKS)),
    TEXT(targets[2].keys, "v1,abc v1,def", BIT(SECRETS)),

    TEXT(schedules[0].id, "daily", BIT(SCHEDULES)),
    TEXT(schedules[0].target, "push", BIT(SCHEDULES)),
    TEXT(schedules[0].body, "{\"every\":\"PT2H\"}", BIT(SCHEDULES)),
    TEXT(schedules[1].payload, "{ }", BIT(SCHEDULES)),

    NUMBER(retention.statuses[SM_STATUS_ACCEPTED].strip, BIT(RETENTION)),
    NUMBER(retention.statuses[SM_STATUS_CANCELED].forget, BIT(RETENTION)),
    NUMBER(retention.audit, BIT(RETENTION)),
    NUMBER(retention.refused, BIT(RETENTION)),
    NUMBER(retention.jobs, BIT(RETENTION)),
    NUMBER(inbox, BIT(INBOX)),

    NUMBER(lease.duration, BIT(LEASE)),
    NUMBER(lease.renew, BIT(LEASE)),
    NUMBER(lease.acquire, BIT(LEASE)),
    NUMBER(lease.refresh, BIT(LEASE)),
    NUMBER(lease.release, BIT(LEASE))
};


static void
change(conf_t *c, const change_t *to)
{
    char  *field;

    field = (char *) c + to->offset;

    if (to->size == 0) {
        *(sm_str_t *) (void *) field = sm_str_c(to->text);

    } else if (to->size == sizeof(int64_t)) {
        (*(int64_t *) (void *) field)++;

    } else {
        (*(unsigned *) (void *) field)++;
    }
}


static void
test_changes(void)
{
    char         a[SM_CONFIG_TEXT_MAX + 1], b[SM_CONFIG_TEXT_MAX + 1];
    char         shown[SM_CONFIG_SHORT + 1];
    size_t       i;
    conf_t       base, c;
    const char  *before, *after;

    conf_init(&base);
    before = text_of(&base, 0, a);

    is_int(strlen(before) > 100, 1, "the text is \"%s\"", before);

    for (i = 1; i < 6; i++) {
        is_str(text_of(&base, i, b), before, "another order is the same");
    }

    (void) snprintf(shown, sizeof(shown), "%s", short_of(before));

    for (i = 0; i < sm_nelts(changes); i++) {
        conf_init(&c);
        change(&c, &changes[i]);

        after = text_of(&c, 0, b);

        is_int(sm_config_differ(sm_str_c(before), sm_str_c(after)),
               changes[i].parts, "another %s%s%s", changes[i].what,
               changes[i].text ? ": " : "",
               changes[i].text ? changes[i].text : "");

        is_int(strcmp(short_of(after), shown) != 0,
               (changes[i].parts & ~BIT(SECRETS)) != 0,
               "what is shown has all but secrets");
    }
}


static const struct {
    const char  *a;
    const char  *b;
    unsigned     parts;
    const char  *names;
} pairs[] = {
    { "targets:1 lease:2", "targets:1 lease:2", 0, "" },
    { "targets:1 lease:2", "targets:1 lease:3", BIT(LEASE), "\"lease\"" },
    { "targets:1 lease:2", "targets:2 lease:3", BIT(TARGETS) | BIT(LEASE),
      "\"targets\",\"lease\"" },
    { "targets:1", "targets:1 lease:3", BIT(LEASE), "\"lease\"" },
    { "targets:1 new:5", "targets:1", BIT(OTHER), "\"other\"" },
    { "targets:1 new:5", "targets:1 new:6", BIT(OTHER), "\"other\"" },
    { "", "targets:1", BIT(TARGETS), "\"targets\"" },
    { NULL, "targets:1", 0, "" },
    { NULL, NULL, 0, "" }
};


static void
test_differ(void)
{
    char      buf[64];
    size_t    i;
    sm_str_t  a, b;
    sm_out_t  out;

    for (i = 0; i < sm_nelts(pairs); i++) {
        a = pairs[i].a ? sm_str_c(pairs[i].a) : (sm_str_t) sm_null_str;
        b = pairs[i].b ? sm_str_c(pairs[i].b) : (sm_str_t) sm_null_str;

        is_int(sm_config_differ(a, b), pairs[i].parts, "pair %d", (int) i);
        is_int(sm_config_differ(b, a), pairs[i].parts, "the other way round");

        sm_out_init(&out, buf, sizeof(buf) - 1);
        sm_config_parts_out(&out, pairs[i].parts);
        *out.last = '\0';
        is_str(buf, pairs[i].names, "in words");
    }
}


static void
test_names(void)
{
    char       list[4 * SM_CONFIG_NAME_HEX + 1];
    char      *many;
    size_t     n;
    uint32_t   names[8] = { 0 }, *all;
    sm_out_t   out;

    names[0] = sm_config_name((sm_str_t) sm_str("b"));
    names[1] = sm_config_name((sm_str_t) sm_str("a"));
    names[2] = names[0];
    names[3] = 0;

    sm_out_init(&out, list, sizeof(list) - 1);
    sm_config_names_out(&out, names, 4);
    *out.last = '\0';
    is_int(strlen(list), 4 * SM_CONFIG_NAME_HEX, "a list");
    is_str(list + 3 * SM_CONFIG_NAME_HEX, "00000000", "with zeroes");

    all = calloc(SM_CONFIG_NAMES_ALL, sizeof(uint32_t));

    n = sm_config_names_add(all, 0, sm_str_c(list));
    is_int(n, 4, "read back");
    is_int(memcmp(all, names, 4 * sizeof(uint32_t)), 0, "as it was");

    n = sm_config_names_sort(all, n);
    is_int(n, 3, "each is there once");
    is_int(sm_config_names_sort(all, 0), 0, "none stays none");

    is_int(sm_config_names_have(all, n, names[0]), 1, "one is found");
    is_int(sm_config_names_have(all, n, names[1]), 1, "another one");
    is_int(sm_config_names_have(all, n,
                                sm_config_name((sm_str_t) sm_str("c"))),
           0, "a third is not there");
    is_int(sm_config_names_have(all, 0, names[0]), 0, "in none is none");
    is_int(sm_config_names_have(NULL, 0, names[0]), 0, "nor in nothing");

    is_int(sm_config_names_add(all, 0, (sm_str_t) sm_str("0123456")), 0,
           "a piece is no name");

    n = SM_CONFIG_NAMES_ALL * SM_CONFIG_NAME_HEX + SM_CONFIG_NAME_HEX;
    many = malloc(n);
    memset(many, 'f', n);

    is_int(sm_config_names_add(all, 5, (sm_str_t) { n, many }),
           SM_CONFIG_NAMES_ALL, "no more than there is room for");

    free(many);
    free(all);
}


/* lists that are the same leave room for one that is not */

static void
test_cluster_names(void)
{
    size_t          i, n;
    char           *list;
    uint32_t       *names;
    sm_out_t        out;
    sm_arena_t      arena = { NULL };
    sm_cluster_t    c;
    sm_candidate_t  candidates[4];

    memset(&c, 0, sizeof(sm_cluster_t));
    memset(candidates, 0, sizeof(candidates));

    is_int(sm_cluster_names(&arena, &c, &n) == NULL && n == 0, 1, "of nobody");

    list = malloc(SM_CONFIG_NAMES_MAX * SM_CONFIG_NAME_HEX);
    sm_out_init(&out, list, SM_CONFIG_NAMES_MAX * SM_CONFIG_NAME_HEX);

    for (i = 1; i <= SM_CONFIG_NAMES_MAX; i++) {
        sm_config_names_out(&out, &(uint32_t) { (uint32_t) i }, 1);
    }

    c.candidates = candidates;
    c.n = 4;

    for (i = 0; i < 3; i++) {
        (void) sm_out_done(&out, &candidates[i].names);
    }

    candidates[3].names = sm_str_c("ffffffff");

    names = sm_cluster_names(&arena, &c, &n);
    is_int(n, SM_CONFIG_NAMES_MAX + 1, "all of them, once");
    is_int(sm_config_names_have(names, n, 0xffffffff), 1, "the last one, too");

    free(list);
    sm_arena_free(&arena);
}


int
main(void)
{
    test_changes();
    test_differ();
    test_names();
    test_cluster_names();

    return done_testing();
}
