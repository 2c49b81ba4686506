
#include "sm_bucket.h"


void
sm_bucket_init(sm_bucket_t *b, int64_t rate, int64_t burst, int64_t now)
{
    b->rate = rate;
    b->burst = burst;
    b->units = 0;
    b->at = now;
    b->reserved = 0;
}


/* A clock that goes back adds no units. */

int64_t
sm_bucket_units(const sm_bucket_t *b, int64_t now)
{
    int64_t  missing;

    missing = b->burst * SM_BUCKET_TOKEN - b->units;

    if (b->rate == 0 || now <= b->at) {
        return b->units;
    }

    if (now - b->at > missing / b->rate) {
        return b->units + missing;
    }

    return b->units + (now - b->at) * b->rate;
}


int64_t
sm_bucket_next(const sm_bucket_t *b, int64_t now)
{
    int64_t  missing;

    if (b->rate == 0) {
        return now;
    }

    if (b->reserved >= b->burst) {
        return INT64_MAX;
    }

    missing = (b->reserved + 1) * SM_BUCKET_TOKEN - sm_bucket_units(b, now);

    return missing <= 0 ? now : now + (missing + b->rate - 1) / b->rate;
}


void
sm_bucket_reserve(sm_bucket_t *b)
{
    b->reserved++;
}


void
sm_bucket_give_back(sm_bucket_t *b)
{
    b->reserved--;
}


void
sm_bucket_spend(sm_bucket_t *b, int64_t now)
{
    b->reserved--;

    if (b->rate) {
        b->units = sm_bucket_units(b, now) - SM_BUCKET_TOKEN;
        b->at = now > b->at ? now : b->at;
    }
}


int64_t
sm_bucket_tokens(const sm_bucket_t *b, int64_t now)
{
    return b->rate == 0
           ? 0 : sm_bucket_units(b, now) / SM_BUCKET_TOKEN - b->reserved;
}


void
sm_bucket_go_on(sm_bucket_t *b, const sm_bucket_t *other, int64_t now)
{
    int64_t  units, max;

    if (b->rate == 0 || other->rate == 0) {
        return;
    }

    units = sm_bucket_units(other, now);
    max = b->burst * SM_BUCKET_TOKEN;

    if (units > max) {
        units = max;
    }

    if (units > sm_bucket_units(b, now)) {
        b->units = units;
        b->at = now;
    }
}
