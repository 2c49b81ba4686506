
#include <stdlib.h>

#include "sm_config.h"
#include "sm_text.h"


static const sm_str_t  sm_config_parts[] = {
    [SM_CONFIG_TARGETS] = sm_str("targets"),
    [SM_CONFIG_WEBHOOKS] = sm_str("webhooks"),
    [SM_CONFIG_SCHEDULES] = sm_str("schedules"),
    [SM_CONFIG_RETENTION] = sm_str("retention"),
    [SM_CONFIG_INBOX] = sm_str("inbox"),
    [SM_CONFIG_LEASE] = sm_str("lease"),
    [SM_CONFIG_SECRETS] = sm_str("secrets"),
    [SM_CONFIG_OTHER] = sm_str("other")
};

_Static_assert(sm_nelts(sm_config_parts) == SM_CONFIG_OTHER + 1,
               "a name for each part");


/*
 * FNV-1a, whose bits are then mixed, so that sums and short pieces of hashes
 * are as good as the whole.
 */

uint64_t
sm_config_hash(sm_str_t s)
{
    size_t    i;
    uint64_t  h;

    h = 0xcbf29ce484222325u;

    for (i = 0; i < s.len; i++) {
        h ^= (unsigned char) s.data[i];
        h *= 0x100000001b3u;
    }

    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53u;
    h ^= h >> 33;

    return h;
}


/* Writes the first digits of a hash of 16. */

void
sm_config_hex(sm_out_t *out, uint64_t hash, size_t digits)
{
    size_t             i;
    static const char  hex[] = "0123456789abcdef";

    for (i = 0; i < digits; i++) {
        sm_out_bytes(out, &hex[hash >> 60], 1);
        hash <<= 4;
    }
}


void
sm_config_text_out(sm_out_t *out, const uint64_t parts[SM_CONFIG_PARTS])
{
    unsigned  i;

    for (i = 0; i < SM_CONFIG_PARTS; i++) {
        sm_out_c(out, i ? " " : "");
        sm_out_str(out, sm_config_parts[i]);
        sm_out_c(out, ":");
        sm_config_hex(out, parts[i], SM_CONFIG_HEX);
    }
}


/* Finds the hash of a part.  Returns no data if the text does not have it. */

static sm_str_t
sm_config_part(sm_str_t text, sm_str_t name)
{
    sm_str_t  word;

    while (sm_next_word(&text, &word)) {

        if (word.len > name.len && word.data[name.len] == ':'
            && memcmp(word.data, name.data, name.len) == 0)
        {
            return word;
        }
    }

    return (sm_str_t) sm_null_str;
}


void
sm_config_short_out(sm_out_t *out, sm_str_t text)
{
    sm_str_t  secrets;

    secrets = sm_config_part(text, sm_config_parts[SM_CONFIG_SECRETS]);

    if (secrets.data) {
        text.len = secrets.data - text.data;
    }

    sm_config_hex(out, sm_config_hash(text), SM_CONFIG_SHORT);
}


unsigned
sm_config_differ(sm_str_t a, sm_str_t b)
{
    unsigned  i, parts;

    if (a.data == NULL || b.data == NULL || sm_str_eq(a, b)) {
        return 0;
    }

    parts = 0;

    for (i = 0; i < SM_CONFIG_PARTS; i++) {
        if (!sm_str_eq(sm_config_part(a, sm_config_parts[i]),
                       sm_config_part(b, sm_config_parts[i])))
        {
            parts |= 1u << i;
        }
    }

    return parts ? parts : 1u << SM_CONFIG_OTHER;
}


void
sm_config_parts_out(sm_out_t *out, unsigned parts)
{
    unsigned     i;
    const char  *comma;

    for (i = 0, comma = "\""; i <= SM_CONFIG_OTHER; i++) {
        if (parts & (1u << i)) {
            sm_out_c(out, comma);
            sm_out_str(out, sm_config_parts[i]);
            sm_out_c(out, "\"");
            comma = ",\"";
        }
    }
}


uint32_t
sm_config_name(sm_str_t name)
{
    return (uint32_t) (sm_config_hash(name) >> 32);
}


void
sm_config_names_out(sm_out_t *out, const uint32_t *names, size_t n)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        sm_config_hex(out, (uint64_t) names[i] << 32, SM_CONFIG_NAME_HEX);
    }
}


/* Digits that are none count as 0: a damaged list names other targets. */

size_t
sm_config_names_add(uint32_t *names, size_t n, sm_str_t list)
{
    char      c;
    size_t    i;
    uint32_t  name;

    for (i = 0, name = 0; i < list.len && n < SM_CONFIG_NAMES_ALL; i++) {
        c = list.data[i];

        name = name << 4
               | (c >= '0' && c <= '9' ? (uint32_t) (c - '0')
                  : c >= 'a' && c <= 'f' ? (uint32_t) (c - 'a' + 10) : 0);

        if (i % SM_CONFIG_NAME_HEX == SM_CONFIG_NAME_HEX - 1) {
            names[n++] = name;
        }
    }

    return n;
}


static int
sm_config_names_cmp(const void *a, const void *b)
{
    uint32_t  x, y;

    x = *(const uint32_t *) a;
    y = *(const uint32_t *) b;

    return x < y ? -1 : x > y;
}


size_t
sm_config_names_sort(uint32_t *names, size_t n)
{
    size_t  i, k;

    if (n == 0) {
        return 0;
    }

    qsort(names, n, sizeof(uint32_t), sm_config_names_cmp);

    for (i = 1, k = 1; i < n; i++) {
        if (names[i] != names[k - 1]) {
            names[k++] = names[i];
        }
    }

    return k;
}


int
sm_config_names_have(const uint32_t *names, size_t n, uint32_t name)
{
    return n && bsearch(&name, names, n, sizeof(uint32_t),
                        sm_config_names_cmp)
                != NULL;
}
