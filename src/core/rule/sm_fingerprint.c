
#include "sm_fingerprint.h"


/* Adds an element that was written whole. */

static int
sm_fingerprint_add(sm_fingerprint_t *fp, sm_config_part_e part,
    const sm_out_t *out)
{
    sm_str_t  text;

    if (sm_out_done(out, &text) != 0) {
        return -1;
    }

    fp->parts[part] += sm_config_hash(text);

    return 0;
}


/* Adds each word of a list to the elements of a target. */

static int
sm_fingerprint_words(sm_fingerprint_t *fp, sm_config_part_e part,
    sm_out_t *out, sm_str_t target, const char *list, sm_str_t words)
{
    sm_str_t  word;

    while (sm_next_word(&words, &word)) {
        sm_out_rewind(out);
        sm_json_out_str(out, target);
        sm_out_c(out, list);
        sm_json_out_str(out, word);

        if (sm_fingerprint_add(fp, part, out) != 0) {
            return -1;
        }
    }

    return 0;
}


/* Returns the "user:password@" of a URL, which may be empty. */

static sm_str_t
sm_fingerprint_userinfo(sm_str_t url)
{
    size_t       i;
    sm_str_t     userinfo;
    const char  *slashes;

    slashes = memchr(url.data, '/', url.len);
    i = slashes ? (size_t) (slashes - url.data) + 2 : url.len;

    userinfo.data = url.data + (i < url.len ? i : url.len);
    userinfo.len = 0;

    for ( /* void */ ; i < url.len && url.data[i] != '/'; i++) {
        if (url.data[i] == '@') {
            userinfo.len = url.data + i + 1 - userinfo.data;
        }
    }

    return userinfo;
}


static int
sm_fingerprint_secrets(sm_fingerprint_t *fp, sm_out_t *out,
    const sm_fingerprint_target_t *target, sm_str_t userinfo)
{
    if (userinfo.len == 0 && target->keys.len == 0) {
        return 0;
    }

    sm_out_rewind(out);
    sm_json_out_str(out, target->contract->target);
    sm_json_out_str(out, userinfo);
    sm_json_out_str(out, target->keys);

    return sm_fingerprint_add(fp, SM_CONFIG_SECRETS, out);
}


/* sm_limits_out() needs memory that does not grow. */

static void
sm_fingerprint_limit(sm_out_t *out, const sm_limit_t *limit)
{
    char        buf[512];
    sm_out_t    fixed;
    sm_limit_t  l;

    l = *limit;
    l.name = (sm_str_t) sm_null_str;
    l.units = 0;

    sm_out_init(&fixed, buf, sizeof(buf));
    sm_limits_out(&fixed, &l, 1);

    sm_out_bytes(out, fixed.start, fixed.last - fixed.start);
}


/*
 * Webhooks in "notify" are in the order of the configuration, and that of
 * outcomes means nothing: both are sets of words.
 */

static int
sm_fingerprint_contract(sm_fingerprint_t *fp, sm_out_t *out,
    const sm_fingerprint_target_t *target)
{
    sm_str_t          url, name, userinfo;
    sm_contract_t     c;
    sm_config_part_e  part;

    c = *target->contract;
    name = c.target;
    url = c.gateway_url;
    userinfo = sm_fingerprint_userinfo(url);

    part = memchr(name.data, ' ', name.len) ? SM_CONFIG_WEBHOOKS
                                            : SM_CONFIG_TARGETS;

    c.gateway_url.len = userinfo.data - url.data;
    c.terminal_outcomes.len = 0;
    c.notify = (sm_str_t) sm_null_str;

    sm_contract_out(out, &c);
    sm_json_out_str(out, (sm_str_t) { url.data + url.len
                                      - userinfo.data - userinfo.len,
                                      userinfo.data + userinfo.len });
    sm_fingerprint_limit(out, &target->limit);
    sm_out_int(out, target->events);

    if (sm_fingerprint_add(fp, part, out) != 0
        || sm_fingerprint_words(fp, part, out, name, "notify",
                                target->contract->notify)
           != 0
        || sm_fingerprint_words(fp, part, out, name, "outcome",
                                target->contract->terminal_outcomes)
           != 0
        || sm_fingerprint_secrets(fp, out, target, userinfo) != 0)
    {
        return -1;
    }

    if (part == SM_CONFIG_TARGETS) {
        fp->names[fp->n++] = sm_config_name(name);
    }

    return 0;
}


int
sm_fingerprint_target(sm_fingerprint_t *fp,
    const sm_fingerprint_target_t *target)
{
    int         rc;
    sm_out_t    out;
    sm_arena_t  arena;

    memset(&arena, 0, sizeof(sm_arena_t));
    sm_out_init_arena(&out, &arena);

    rc = sm_fingerprint_contract(fp, &out, target);

    sm_arena_free(&arena);

    return rc;
}


int
sm_fingerprint_schedule(sm_fingerprint_t *fp,
    const sm_schedule_row_t *schedule)
{
    int         rc;
    sm_out_t    out;
    sm_arena_t  arena;

    memset(&arena, 0, sizeof(sm_arena_t));
    sm_out_init_arena(&out, &arena);

    sm_json_out_str(&out, schedule->id);
    sm_json_out_str(&out, schedule->target);
    sm_json_out_str(&out, schedule->body);
    sm_json_out_str(&out, schedule->payload);

    rc = sm_fingerprint_add(fp, SM_CONFIG_SCHEDULES, &out);

    sm_arena_free(&arena);

    return rc;
}


static void
sm_fingerprint_numbers(sm_fingerprint_t *fp, sm_config_part_e part,
    const int64_t *numbers, size_t n)
{
    char      buf[24 * 32];
    size_t    i;
    sm_out_t  out;

    sm_out_init(&out, buf, sizeof(buf));

    for (i = 0; i < n; i++) {
        sm_out_int(&out, numbers[i]);
        sm_out_c(&out, " ");
    }

    (void) sm_fingerprint_add(fp, part, &out);
}


void
sm_fingerprint_lease(sm_fingerprint_t *fp, const sm_fingerprint_lease_t *lease)
{
    int64_t  numbers[] = {
        lease->duration, lease->renew, lease->acquire, lease->refresh,
        lease->release
    };

    sm_fingerprint_numbers(fp, SM_CONFIG_LEASE, numbers, sm_nelts(numbers));
}


void
sm_fingerprint_retention(sm_fingerprint_t *fp,
    const sm_retention_rules_t *rules)
{
    size_t   i;
    int64_t  numbers[2 * SM_STATUS_COUNT + 3];

    for (i = 0; i < SM_STATUS_COUNT; i++) {
        numbers[2 * i] = rules->statuses[i].strip;
        numbers[2 * i + 1] = rules->statuses[i].forget;
    }

    numbers[2 * SM_STATUS_COUNT] = rules->audit;
    numbers[2 * SM_STATUS_COUNT + 1] = rules->refused;
    numbers[2 * SM_STATUS_COUNT + 2] = rules->jobs;

    _Static_assert(sm_nelts(numbers) <= 32, "room for each number");

    sm_fingerprint_numbers(fp, SM_CONFIG_RETENTION, numbers,
                           sm_nelts(numbers));
}


void
sm_fingerprint_inbox(sm_fingerprint_t *fp, int64_t max_payload)
{
    sm_fingerprint_numbers(fp, SM_CONFIG_INBOX, &max_payload, 1);
}
