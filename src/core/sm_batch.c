
#include "sm_batch.h"


#define SM_BATCH_ROW_FIXED       (128 + SM_HASH_LEN)
#define SM_BATCH_CONTRACT_FIXED  512


static size_t
sm_batch_contract_size(const sm_contract_t *c)
{
    return SM_BATCH_CONTRACT_FIXED
           + sm_json_str_size(c->target.len)
           + sm_json_str_size(c->gateway_url.len)
           + sm_json_str_size(c->terminal_outcomes.len);
}


static void
sm_batch_contract_out(sm_out_t *out, const sm_contract_t *c)
{
    sm_out_c(out, "{\"target\":");
    sm_json_out_str(out, c->target);
    sm_out_c(out, ",\"gatewayType\":");
    sm_json_out_str(out, sm_gateway_name(c->gateway_type));
    sm_out_c(out, ",\"gatewayUrl\":");
    sm_json_out_str(out, c->gateway_url);
    sm_out_c(out, ",\"policy\":");
    sm_json_out_str(out, sm_policy_name(c->policy));

    if (c->policy == SM_POLICY_DEADLINE) {
        sm_out_c(out, ",\"maxAcceptanceSeconds\":");
        sm_out_int(out, c->max_acceptance_seconds);
    }

    if (c->policy == SM_POLICY_MAX_ATTEMPTS) {
        sm_out_c(out, ",\"maxAttempts\":");
        sm_out_int(out, c->max_attempts);
    }

    sm_out_c(out, ",\"terminalOutcomes\":");
    sm_json_out_str(out, c->terminal_outcomes);
    sm_out_c(out, ",\"retryDelayMs\":");
    sm_out_int(out, c->retry_delay);
    sm_out_c(out, ",\"retryMaxMs\":");
    sm_out_int(out, c->retry_max);
    sm_out_c(out, ",\"retryBackoffPct\":");
    sm_out_int(out, c->retry_backoff);
    sm_out_c(out, ",\"retryJitterPct\":");
    sm_out_int(out, c->retry_jitter);
    sm_out_c(out, "}");
}


static void
sm_batch_row_out(sm_out_t *out, const sm_submit_row_t *row, size_t contract,
    const char *bytes)
{
    sm_str_t  hash = { SM_HASH_LEN, row->hash };

    sm_out_c(out, "{\"id\":");
    sm_json_out_str(out, row->id);
    sm_out_c(out, ",\"contract\":");
    sm_out_int(out, contract);
    sm_out_c(out, ",\"hash\":");
    sm_json_out_str(out, hash);
    sm_out_c(out, ",\"offset\":");
    sm_out_int(out, row->payload.len ? row->payload.data - bytes : 0);
    sm_out_c(out, ",\"length\":");
    sm_out_int(out, row->payload.len);
    sm_out_c(out, "}");
}


int
sm_batch_submit_doc(sm_arena_t *arena, const sm_submit_row_t *rows, size_t n,
    const char *bytes, sm_str_t *doc)
{
    size_t                 i, k, size, ncontracts, *which;
    sm_out_t               out;
    const sm_contract_t  **contracts;

    which = sm_arena_calloc(arena, n, sizeof(size_t));
    contracts = sm_arena_calloc(arena, n, sizeof(sm_contract_t *));

    if (which == NULL || contracts == NULL) {
        return -1;
    }

    size = sizeof("{\"contracts\":[],\"rows\":[]}");

    for (i = 0, ncontracts = 0; i < n; i++) {

        for (k = 0; k < ncontracts; k++) {
            if (contracts[k] == rows[i].contract) {
                break;
            }
        }

        if (k == ncontracts) {
            contracts[ncontracts++] = rows[i].contract;
            size += sm_batch_contract_size(rows[i].contract);
        }

        which[i] = k;
        size += SM_BATCH_ROW_FIXED + sm_json_str_size(rows[i].id.len);
    }

    sm_out_init(&out, sm_arena_alloc(arena, size), size);

    if (out.start == NULL) {
        return -1;
    }

    sm_out_c(&out, "{\"contracts\":[");

    for (k = 0; k < ncontracts; k++) {
        sm_out_c(&out, k ? "," : "");
        sm_batch_contract_out(&out, contracts[k]);
    }

    sm_out_c(&out, "],\"rows\":[");

    for (i = 0; i < n; i++) {
        sm_out_c(&out, i ? "," : "");
        sm_batch_row_out(&out, &rows[i], which[i], bytes);
    }

    sm_out_c(&out, "]}");

    doc->data = out.start;
    doc->len = out.last - out.start;

    return out.full ? -1 : 0;
}


int
sm_batch_ids_doc(sm_arena_t *arena, const sm_get_row_t *rows, size_t n,
    sm_str_t *doc)
{
    size_t    i, size;
    sm_out_t  out;

    size = sizeof("[]");

    for (i = 0; i < n; i++) {
        size += sm_json_str_size(rows[i].id.len) + 1;
    }

    sm_out_init(&out, sm_arena_alloc(arena, size), size);

    if (out.start == NULL) {
        return -1;
    }

    sm_out_c(&out, "[");

    for (i = 0; i < n; i++) {
        sm_out_c(&out, i ? "," : "");
        sm_json_out_str(&out, rows[i].id);
    }

    sm_out_c(&out, "]");

    doc->data = out.start;
    doc->len = out.last - out.start;

    return out.full ? -1 : 0;
}
