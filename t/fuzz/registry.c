
/*
 * The registry file.  What is taken is within all bounds and reads the same
 * when it is written again; what is not says why.
 */

#include "fuzz.h"
#include "sm_registry.h"


static void
write_contract(sm_out_t *out, const sm_contract_t *c)
{
    int       first;
    sm_str_t  rest, word;

    sm_out_c(out, "{\"submissionTarget\":");
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

    sm_out_c(out, ",\"terminalOutcomes\":[");

    rest = c->terminal_outcomes;

    for (first = 1; sm_next_word(&rest, &word); first = 0) {
        sm_out_c(out, first ? "" : ",");
        sm_json_out_str(out, word);
    }

    sm_out_c(out, "]}");
}


static void
try_again(sm_arena_t *arena, const sm_registry_t *reg, size_t size)
{
    size_t          i;
    sm_out_t        out;
    sm_registry_t   again;
    sm_contract_t  *a, *b;

    fuzz_out(arena, &out, 6 * size + 256 * (reg->n + 1));

    sm_out_c(&out, "# written\n{\"targets\":[");

    for (i = 0; i < reg->n; i++) {
        sm_out_c(&out, i ? ",\n" : "\n");
        write_contract(&out, &reg->contracts[i]);
    }

    sm_out_c(&out, "\n]}\n");

    must(sm_registry_parse(arena, fuzz_written(&out), &again) == 0
         && again.n == reg->n, "what was taken is taken again");

    for (i = 0; i < reg->n; i++) {
        a = &reg->contracts[i];
        b = &again.contracts[i];

        must(sm_str_eq(a->target, b->target)
             && a->gateway_type == b->gateway_type
             && sm_str_eq(a->gateway_url, b->gateway_url)
             && a->policy == b->policy
             && a->max_acceptance_seconds == b->max_acceptance_seconds
             && a->max_attempts == b->max_attempts
             && sm_str_eq(a->terminal_outcomes, b->terminal_outcomes),
             "a contract reads the same");
    }
}


static void
try_contract(const sm_contract_t *c)
{
    sm_str_t  rest, word;

    must(sm_target_check(c->target) == NULL, "the target is one");
    must(sm_gateway_url_check(c->gateway_url) == NULL, "the URL is one");
    must(c->gateway_type != SM_GATEWAY_NONE && c->policy != SM_POLICY_NONE,
         "it has a type and a policy");
    must((c->policy == SM_POLICY_DEADLINE) == (c->max_acceptance_seconds > 0)
         && (c->policy == SM_POLICY_MAX_ATTEMPTS) == (c->max_attempts > 0),
         "the policy has its argument, and no other");
    must(c->max_acceptance_seconds <= SM_ACCEPTANCE_MAX
         && c->max_attempts <= SM_ATTEMPTS_MAX
         && c->terminal_outcomes.len <= SM_OUTCOMES_MAX, "bounds");

    rest = c->terminal_outcomes;

    while (sm_next_word(&rest, &word)) {
        must(sm_outcome_known(c->gateway_type, word), "an outcome is known");
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t         i;
    sm_str_t       text;
    sm_arena_t     arena = { NULL };
    sm_registry_t  reg;

    text = fuzz_copy(fuzz_input(data, size));

    if (sm_registry_parse(&arena, text, &reg) == 0) {
        must(reg.error[0] == '\0', "there is no error");

        for (i = 0; i < reg.n; i++) {
            try_contract(&reg.contracts[i]);
        }

        try_again(&arena, &reg, size);

    } else {
        must(reg.error[0]
             && sm_utf8_check(sm_str_c(reg.error)) == strlen(reg.error),
             "the error is text");
    }

    fuzz_free(text);
    sm_arena_free(&arena);

    return 0;
}
