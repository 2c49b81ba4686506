
#include "sm_action.h"


/* all keys, punctuation, times and numbers of one entry */
#define SM_AUDIT_FIXED  256


_Static_assert(sizeof(sm_audit_t) + 2 * sm_clean_size(200) + 4 * SM_ID_MAX
               + 64 + 32 + sm_clean_size(2000) + 6 * 16 <= SM_AUDIT_MAX,
               "an entry of the audit");


/* where the digits of "<any>~<digits>" begin, with their value; 0: none */

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
sm_replay_id(sm_arena_t *arena, const sm_payload_row_t *source, sm_str_t *id,
    unsigned *too_long)
{
    size_t    at, size;
    int64_t   n;
    sm_out_t  out;
    sm_str_t  base;

    *too_long = 0;

    at = source->replay_of.len ? sm_replay_number(source->id, &n) : 0;

    base.data = source->id.data;
    base.len = at ? at - 1 : source->id.len;

    size = base.len + sizeof("~2147483648");

    sm_out_init(&out, sm_arena_alloc(arena, size), size);

    if (out.start == NULL) {
        return -1;
    }

    sm_out_str(&out, base);
    sm_out_c(&out, "~");
    sm_out_int(&out, at ? n + 1 : 1);

    id->data = out.start;
    id->len = out.last - out.start;

    *too_long = sm_id_check(*id) != NULL;

    return *too_long ? -1 : 0;
}


int
sm_contract_doc(sm_arena_t *arena, const sm_contract_t *c, sm_str_t *doc)
{
    size_t               size;
    sm_out_t             out;
    unsigned             i;
    const char          *comma;
    sm_contract_value_t  values[SM_CONTRACT_COL_COUNT];

    sm_contract_store(c, values);

    size = sizeof("{}");

    for (i = 0; i < SM_CONTRACT_COL_COUNT; i++) {
        size += strlen(sm_contract_columns[i].key) + sizeof(",\"\":") + 20
                + (values[i].null ? 0 : sm_json_str_size(values[i].s.len));
    }

    sm_out_init(&out, sm_arena_alloc(arena, size), size);

    if (out.start == NULL) {
        return -1;
    }

    comma = "{\"";

    for (i = 0; i < SM_CONTRACT_COL_COUNT; i++) {

        if (values[i].null) {
            continue;
        }

        sm_out_c(&out, comma);
        sm_out_c(&out, sm_contract_columns[i].key);
        sm_out_c(&out, "\":");

        if (sm_contract_columns[i].is == SM_CONTRACT_IS_INT) {
            sm_out_int(&out, values[i].n);

        } else {
            sm_json_out_str(&out, values[i].s);
        }

        comma = ",\"";
    }

    sm_out_c(&out, "}");

    doc->data = out.start;
    doc->len = out.last - out.start;

    return out.full ? -1 : 0;
}


int
sm_replay_detail(sm_arena_t *arena, sm_str_t id, unsigned original,
    sm_str_t *detail)
{
    size_t    size;
    sm_out_t  out;

    size = sizeof("{\"" SM_FIELD_ID "\":,\"contract\":\"original\"}")
           + sm_json_str_size(id.len);

    sm_out_init(&out, sm_arena_alloc(arena, size), size);

    if (out.start == NULL) {
        return -1;
    }

    sm_out_c(&out, "{\"" SM_FIELD_ID "\":");
    sm_json_out_str(&out, id);
    sm_out_c(&out, original ? ",\"contract\":\"original\"}" : "}");

    detail->data = out.start;
    detail->len = out.last - out.start;

    return 0;
}


size_t
sm_audit_size(const sm_audit_t *entry)
{
    return SM_AUDIT_FIXED
           + sm_json_str_size(entry->actor.len)
           + sm_json_str_size(entry->address.len)
           + sm_json_str_size(entry->action.len)
           + sm_json_str_size(entry->object.len)
           + sm_json_str_size(entry->detail.len);
}


static void
sm_audit_out_str(sm_out_t *out, const char *key, sm_str_t s)
{
    sm_out_c(out, key);

    if (s.len) {
        sm_json_out_str(out, s);

    } else {
        sm_out_c(out, "null");
    }
}


/* a detail is an object of ours; what somebody else has written is a string */

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
    sm_out_c(out, "{\"at\":");
    sm_json_out_time(out, entry->at);
    sm_audit_out_str(out, ",\"actor\":", entry->actor);
    sm_audit_out_str(out, ",\"address\":", entry->address);
    sm_audit_out_str(out, ",\"action\":", entry->action);
    sm_audit_out_str(out, ",\"object\":", entry->object);

    if (entry->detail.len && sm_audit_is_object(entry->detail)) {
        sm_out_c(out, ",\"detail\":");
        sm_out_str(out, entry->detail);

    } else {
        sm_audit_out_str(out, ",\"detail\":", entry->detail);
    }

    sm_out_c(out, "}");
}
