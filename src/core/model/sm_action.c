
#include "sm_action.h"


_Static_assert(sizeof(sm_audit_t) + 2 * sm_clean_size(200) + 4 * SM_ID_MAX
               + 64 + 32 + sm_clean_size(2000) + 6 * 16 <= SM_AUDIT_MAX,
               "an entry of the audit");


const sm_field_t  sm_audit_fields[] = {
    sm_field_hidden(sm_audit_t, seq, "seq", INT),
    sm_field(sm_audit_t, at, "at", TIME, "at", SM_FIELD_ALWAYS),
    sm_field(sm_audit_t, actor, "actor", TEXT, "actor", SM_FIELD_NULL),
    sm_field(sm_audit_t, address, "address", TEXT, "address", SM_FIELD_NULL),
    sm_field(sm_audit_t, action, "action", TEXT, "action", SM_FIELD_NULL),
    sm_field(sm_audit_t, object, "object", TEXT, "object", SM_FIELD_NULL),

    /* sm_audit_out() writes the detail, because it may be an object. */

    sm_field_hidden(sm_audit_t, detail, "detail", TEXT),
    sm_null_field
};


const sm_field_t  sm_payload_fields[] = {
    sm_field_hidden(sm_payload_row_t, stripped, "stripped", BOOL),
    sm_field_name(sm_payload_row_t, status, "status", NULL, 0, &sm_statuses),
    sm_field_hidden(sm_payload_row_t, target, "submission_target", TEXT),
    sm_field_hidden(sm_payload_row_t, replay_of, "replay_of", TEXT),
    sm_field_hidden(sm_payload_row_t, replay_count, "replay_count", INT),
    sm_field_hidden(sm_payload_row_t, payload, "payload", BYTES),
    sm_null_field
};


/*
 * Returns where the digits of "<any>~<digits>" begin, with their value, or 0 if
 * the id does not end so.
 */

static size_t
sm_replay_number(sm_str_t id, int64_t *n)
{
    size_t    at;
    sm_str_t  digits;

    for (at = id.len; at > 0 && id.data[at - 1] != '~'; at--) {
        /* void */
    }

    digits.data = id.data + at;
    digits.len = id.len - at;

    if (at < 2 || digits.len > 9 || sm_parse_uint(digits, INT32_MAX, n) != 0
        || digits.data[0] == '0')
    {
        return 0;
    }

    return at;
}


int
sm_replay_id(sm_arena_t *arena, const sm_payload_row_t *source, int64_t nth,
    sm_str_t *id, unsigned *too_long)
{
    size_t    at;
    int64_t   n;
    sm_out_t  out;
    sm_str_t  base;

    *too_long = 0;

    at = source->replay_of.len ? sm_replay_number(source->id, &n) : 0;

    base.data = source->id.data;
    base.len = at ? at - 1 : source->id.len;

    sm_out_init_arena(&out, arena);

    sm_out_str(&out, base);
    sm_out_c(&out, "~");
    sm_out_int(&out, at ? n + nth : nth);

    if (sm_out_done(&out, id) != 0) {
        return -1;
    }

    *too_long = sm_id_check(*id) != NULL;

    return *too_long ? -1 : 0;
}


int
sm_contract_doc(sm_arena_t *arena, const sm_contract_t *c, sm_str_t *doc)
{
    sm_out_t  out;

    sm_out_init_arena(&out, arena);
    sm_contract_out(&out, c);
    sm_out_c(&out, "}");

    return sm_out_done(&out, doc);
}


int
sm_replay_detail(sm_arena_t *arena, sm_str_t id, unsigned original,
    sm_str_t *detail)
{
    sm_out_t  out;

    sm_out_init_arena(&out, arena);

    sm_out_c(&out, "{\"" SM_FIELD_ID "\":");
    sm_json_out_str(&out, id);
    sm_out_c(&out, original ? ",\"contract\":\"original\"}" : "}");

    return sm_out_done(&out, detail);
}


void
sm_audit_before(const sm_audit_row_t *row, int64_t *at, int64_t *seq)
{
    *at = 0;
    *seq = 0;

    if (row->after_seq) {
        *at = row->after_at;
        *seq = row->after_seq;
    }

    if (row->to && (*at == 0 || row->to <= *at)) {
        *at = row->to;
        *seq = 0;
    }
}


/*
 * The module writes details as objects; what somebody else has written is shown
 * as a string.
 */

static int
sm_audit_is_object(sm_str_t detail)
{
    int              rc;
    sm_arena_t       arena;
    sm_json_error_t  err;
    sm_json_value_t  none;

    static const sm_json_field_t  fields[] = { { NULL, 0, 0 } };

    memset(&arena, 0, sizeof(sm_arena_t));

    rc = sm_json_object_lax(&arena, detail, fields, &none, &err);

    sm_arena_free(&arena);

    return rc == 0;
}


void
sm_audit_out(sm_out_t *out, const sm_audit_t *entry)
{
    sm_out_c(out, "{");
    sm_out_fields(out, sm_audit_fields, entry);
    sm_out_c(out, ",\"detail\":");

    if (entry->detail.len == 0) {
        sm_out_c(out, "null");

    } else if (sm_audit_is_object(entry->detail)) {
        sm_out_str(out, entry->detail);

    } else {
        sm_json_out_str(out, entry->detail);
    }

    sm_out_c(out, "}");
}
