
/*
 * What instances tell each other of their configurations: a hash of each part
 * that has to be the same on all of them, as a text such as
 *
 *     targets:0123456789abcdef webhooks:... secrets:...
 *
 * and the names of their targets, as a list of hashes.  How the hashes are made
 * is in sm_fingerprint.h.
 */

#ifndef SM_CONFIG_H
#define SM_CONFIG_H


#include "sm_arena.h"
#include "sm_out.h"


/*
 * The parts, in the order of the text.  Secrets are the last, because the hash
 * that people see leaves them out.  SM_CONFIG_OTHER stands for parts that only
 * another version of the module has.
 */

typedef enum {
    SM_CONFIG_TARGETS = 0,
    SM_CONFIG_WEBHOOKS,
    SM_CONFIG_SCHEDULES,
    SM_CONFIG_RETENTION,
    SM_CONFIG_INBOX,
    SM_CONFIG_LEASE,
    SM_CONFIG_SECRETS,
    SM_CONFIG_OTHER
} sm_config_part_e;

#define SM_CONFIG_PARTS      SM_CONFIG_OTHER

#define SM_CONFIG_HEX        16         /* bytes of the hash of a part */
#define SM_CONFIG_TEXT_MAX   256        /* bytes of the text */
#define SM_CONFIG_SHORT      12         /* bytes of the hash for people */

/* Hashes of names in one list, and in the lists of all instances together. */

#define SM_CONFIG_NAME_HEX   8
#define SM_CONFIG_NAMES_MAX  8192
#define SM_CONFIG_NAMES_ALL  16384


/* A hash that is the same on every machine. */
uint64_t sm_config_hash(sm_str_t s);
void sm_config_hex(sm_out_t *out, uint64_t hash, size_t digits);

void sm_config_text_out(sm_out_t *out, const uint64_t parts[SM_CONFIG_PARTS]);

/* Writes the hash that people see, of SM_CONFIG_SHORT digits. */
void sm_config_short_out(sm_out_t *out, sm_str_t text);

/*
 * Returns the parts in which two texts differ, a bit for each.  A text without
 * data is of an instance that does not tell its configuration, and differs from
 * nothing.
 */
unsigned sm_config_differ(sm_str_t a, sm_str_t b);

/* Writes the names of parts, each in quotes and separated by commas. */
void sm_config_parts_out(sm_out_t *out, unsigned parts);


/*
 * Lists of names.  _names_out() writes a list; _names_add() reads one into an
 * array of up to SM_CONFIG_NAMES_ALL hashes, and returns how many there are
 * then.  _names_sort() puts hashes in order, each of them once, and returns how
 * many are left; _names_have() looks a hash up in such an array.
 */
uint32_t sm_config_name(sm_str_t name);
void sm_config_names_out(sm_out_t *out, const uint32_t *names, size_t n);
size_t sm_config_names_add(uint32_t *names, size_t n, sm_str_t list);
size_t sm_config_names_sort(uint32_t *names, size_t n);
int sm_config_names_have(const uint32_t *names, size_t n, uint32_t name);


#endif /* SM_CONFIG_H */
