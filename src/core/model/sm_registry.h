
/*
 * The registry file: {"targets":[{"submissionTarget":...}, ...]} with
 * full-line "#" comments.
 */

#ifndef SM_REGISTRY_H
#define SM_REGISTRY_H


#include "sm_contract.h"


typedef struct {
    sm_contract_t  *contracts;
    size_t          n;
    char            error[512];
} sm_registry_t;


/* The contracts and their strings are in the arena. */
int sm_registry_parse(sm_arena_t *arena, sm_str_t text, sm_registry_t *reg);


#endif /* SM_REGISTRY_H */
