
/*
 * The feed of events: what has happened to the system, told by sentences.
 *
 * An instance notes its own events in the zone, and learns those of others: the
 * leader's document has the last events that the leader knows of, and the row
 * of each instance its own last ones.  So requests ask nobody, and an instance
 * answers as well while the store is down.
 *
 * A writer holds the mutex of the zone, and may be killed between any two
 * machine instructions.  The next writer takes over what was written whole, so
 * that the numbers of an origin have no gap and none is used twice;
 * zone_sequence.c says what becomes of a slot that is half written.
 *
 * The store's clock is the only one.  What happens before its time is known is
 * dated when it is, and told to others only then.  When that clock is set back,
 * a new origin begins, whose times are true.
 */

#include "ngx_http_submission_status.h"
#include "ngx_http_submission_zone_board.h"
#include "ngx_http_submission_zone_feed.h"


/* Microseconds; a clock that goes back by more was set. */

#define NGX_HTTP_SUBMISSION_EVENTS_STEP  5000000


static ngx_shmtx_t *
ngx_http_submission_events_mutex(ngx_http_submission_manager_conf_t *mcf)
{
    return &((ngx_slab_pool_t *) mcf->shm_zone->shm.addr)->mutex;
}


void
ngx_http_submission_event_clock(ngx_http_submission_manager_conf_t *mcf,
    int64_t now, int64_t now_at)
{
    ngx_http_submission_feed_shctx_t  *feed;

    feed = mcf->sh->feed;

    if (feed->offset == 0) {
        ngx_http_submission_zone_feed_date(feed, now - now_at);
    }

    feed->offset = (ngx_atomic_uint_t) (now - now_at);
}


/* The store's time; before it is known, see zone_feed.h. */

static int64_t
ngx_http_submission_events_now(ngx_http_submission_feed_shctx_t *feed)
{
    return feed->offset ? ngx_http_submission_usec() + (int64_t) feed->offset
                        : -ngx_http_submission_usec();
}


/* Finishes what a writer that died has left, under the mutex of the zone. */

static void
ngx_http_submission_events_repair(ngx_http_submission_manager_conf_t *mcf)
{
    void                              *buf;
    size_t                             n;
    int64_t                            heard;
    sm_feed_event_t                   *known;
    ngx_http_submission_feed_slot_t   *slot;
    ngx_http_submission_feed_shctx_t  *feed;

    feed = mcf->sh->feed;

    if (feed->n) {
        slot = &feed->slots[(feed->n - 1) % feed->size];

        if (slot->event.origin == (uint32_t) feed->own.origin
            && slot->event.n > (uint32_t) feed->own.n)
        {
            feed->own.n = slot->event.n;
        }
    }

    if (!feed->torn) {
        return;
    }

    buf = ngx_alloc(ngx_http_submission_events_size(mcf), ngx_cycle->log);

    if (buf) {
        n = ngx_http_submission_events(mcf, buf, &known, &heard);
        sm_feed_have(&feed->have, known, n, feed->n > feed->size);
        feed->torn = 0;

        ngx_free(buf);
    }
}


/* Begins an origin; the one before may have events that nobody else has. */

static void
ngx_http_submission_events_origin(ngx_http_submission_manager_t *manager)
{
    uint32_t                           origin;
    ngx_http_submission_feed_shctx_t  *feed;

    feed = manager->sh->feed;

    origin = ngx_crc32_short(manager->holder_id.data, manager->holder_id.len)
             ^ (uint32_t) ngx_random()
             ^ (uint32_t) ngx_http_submission_date_usec();

    feed->before = feed->own;

    feed->own.told = 0;
    feed->own.origin = origin | 1;
    feed->own.n = 0;
    feed->last = 0;
}


/* Numbers and writes an event of this instance. */

static void
ngx_http_submission_events_add(ngx_http_submission_manager_t *manager,
    sm_feed_event_t *event)
{
    int64_t                            now;
    ngx_http_submission_feed_shctx_t  *feed;

    feed = manager->sh->feed;

    ngx_shmtx_lock(ngx_http_submission_events_mutex(manager->conf));

    ngx_http_submission_events_repair(manager->conf);

    now = ngx_http_submission_events_now(feed);

    if (feed->own.origin == 0
        || (feed->offset
            && now + NGX_HTTP_SUBMISSION_EVENTS_STEP < (int64_t) feed->last))
    {
        ngx_http_submission_events_origin(manager);
    }

    if (feed->offset) {
        now = ngx_max(now, (int64_t) feed->last + 1);
        feed->last = (ngx_atomic_uint_t) now;
    }

    event->origin = (uint32_t) feed->own.origin;
    event->n = (uint32_t) feed->own.n + 1;
    event->at = now;

    ngx_http_submission_zone_feed_write(feed, manager->conf->tenure, event);

    feed->own.n = event->n;

    ngx_shmtx_unlock(ngx_http_submission_events_mutex(manager->conf));
}


static void
ngx_http_submission_events_note(ngx_http_submission_manager_t *manager,
    sm_feed_kind_e kind, sm_str_t instance, sm_str_t target, int64_t epoch,
    const char *fmt, va_list args)
{
    u_char           text[SM_FEED_BYTES], *last;
    char             clean[sm_clean_size(SM_FEED_BYTES)];
    sm_out_t         out;
    sm_str_t         s;
    sm_feed_event_t  event;

    if (manager->sh->feed->size == 0) {
        return;
    }

    last = ngx_vslprintf(text, text + sizeof(text), fmt, args);

    s.data = (char *) text;
    s.len = last - text;

    sm_out_init(&out, clean, sizeof(clean));
    sm_out_clean(&out, s, sizeof(text));

    event.kind = sm_feed_kinds[kind].name;
    event.level = sm_feed_kinds[kind].level;
    event.instance = instance;
    event.target = target;
    event.epoch = epoch;

    s.data = out.start;
    s.len = out.last - out.start;
    event.text = sm_feed_sentence(s);

    ngx_http_submission_events_add(manager, &event);

    ngx_log_debug4(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0,
                   "submission: event %V-%uD kind:%s %V",
                   &manager->conf->name, event.n, event.kind.data,
                   &manager->holder_id);
}


void
ngx_http_submission_event(ngx_http_submission_manager_t *manager,
    sm_feed_kind_e kind, sm_str_t target, const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    ngx_http_submission_events_note(manager, kind,
                                 ngx_http_submission_str(&manager->holder_id),
                                    target, 0, fmt, args);
    va_end(args);
}


void
ngx_http_submission_event_lease(ngx_http_submission_manager_t *manager,
    sm_feed_kind_e kind, int64_t epoch, const char *fmt, ...)
{
    va_list  args;

    static const sm_str_t  none;

    va_start(args, fmt);
    ngx_http_submission_events_note(manager, kind,
                                 ngx_http_submission_str(&manager->holder_id),
                                    none, epoch, fmt, args);
    va_end(args);
}


void
ngx_http_submission_event_of(ngx_http_submission_manager_t *manager,
    sm_feed_kind_e kind, sm_str_t instance, const char *fmt, ...)
{
    va_list  args;

    static const sm_str_t  none;

    va_start(args, fmt);
    ngx_http_submission_events_note(manager, kind, instance, none, 0, fmt,
                                    args);
    va_end(args);
}


void
ngx_http_submission_event_left(ngx_http_submission_manager_t *manager)
{
    static const sm_str_t  none;

    ngx_http_submission_event(manager, SM_FEED_INSTANCE_GONE, none,
                              "%V has left.", &manager->holder_id);
}


size_t
ngx_http_submission_events_size(ngx_http_submission_manager_conf_t *mcf)
{
    return mcf->sh->feed->size * (sizeof(ngx_http_submission_feed_slot_t)
                                  + sizeof(sm_feed_event_t));
}


size_t
ngx_http_submission_events(ngx_http_submission_manager_conf_t *mcf, void *buf,
    sm_feed_event_t **events, int64_t *heard)
{
    size_t                             n;
    int64_t                            clock;
    ngx_uint_t                         i, end;
    ngx_http_submission_feed_slot_t   *slot;
    ngx_http_submission_feed_shctx_t  *feed;

    feed = mcf->sh->feed;

    /* as GET answers show "now" */

    clock = feed->offset ? (int64_t) feed->offset : mcf->sh->board->clock;

    slot = buf;
    *events = (sm_feed_event_t *) (slot + feed->size);

    *heard = (int64_t) feed->heard;
    end = feed->n;
    ngx_memory_barrier();

    n = 0;

    for (i = end > feed->size ? end - feed->size : 0; i < end; i++) {

        if (ngx_http_submission_zone_feed_read(feed, i, slot) == NGX_OK
            && slot->tenure == mcf->tenure)
        {
            sm_feed_open(&slot->event, &(*events)[n]);

            if (slot->event.at < 0) {
                (*events)[n].at = clock - slot->event.at;
            }

            n++;
            slot++;
        }
    }

    sm_feed_sort(*events, n);

    return n;
}


/* Looks for an event that has a string, at this offset. */

static ngx_uint_t
ngx_http_submission_events_find(ngx_http_submission_manager_t *manager,
    sm_feed_kind_e kind, size_t field, sm_str_t value, int64_t since)
{
    void             *buf;
    size_t            i, n;
    int64_t           heard;
    sm_feed_event_t  *events;

    buf = ngx_alloc(ngx_http_submission_events_size(manager->conf) + 1,
                    ngx_cycle->log);
    if (buf == NULL) {
        return 0;
    }

    n = ngx_http_submission_events(manager->conf, buf, &events, &heard);

    for (i = n; i && events[i - 1].at >= since; i--) {
        if (sm_str_eq(events[i - 1].kind, sm_feed_kinds[kind].name)
            && sm_str_eq(*(sm_str_t *) ((char *) &events[i - 1] + field),
                         value))
        {
            ngx_free(buf);
            return 1;
        }
    }

    ngx_free(buf);

    return 0;
}


ngx_uint_t
ngx_http_submission_event_told(ngx_http_submission_manager_t *manager,
    sm_feed_kind_e kind, sm_str_t target, int64_t since)
{
    return ngx_http_submission_events_find(manager, kind,
                                           offsetof(sm_feed_event_t, target),
                                           target, since);
}


ngx_uint_t
ngx_http_submission_event_told_of(ngx_http_submission_manager_t *manager,
    sm_feed_kind_e kind, sm_str_t instance, int64_t since)
{
    return ngx_http_submission_events_find(manager, kind,
                                           offsetof(sm_feed_event_t, instance),
                                           instance, since);
}


ngx_uint_t
ngx_http_submission_event_said(ngx_http_submission_manager_t *manager,
    sm_feed_kind_e kind, sm_str_t text)
{
    return ngx_http_submission_events_find(manager, kind,
                                           offsetof(sm_feed_event_t, text),
                                           text, 0);
}


ngx_uint_t
ngx_http_submission_event_over(ngx_http_submission_manager_t *manager,
    sm_feed_kind_e begins, sm_feed_kind_e ends, sm_str_t target)
{
    void             *buf;
    size_t            i;
    int64_t           heard;
    ngx_uint_t        over;
    sm_feed_event_t  *events;

    buf = ngx_alloc(ngx_http_submission_events_size(manager->conf) + 1,
                    ngx_cycle->log);
    if (buf == NULL) {
        return 0;
    }

    over = 0;

    for (i = ngx_http_submission_events(manager->conf, buf, &events, &heard);
         i;
         i--)
    {
        if (!sm_str_eq(events[i - 1].target, target)) {
            continue;
        }

        over = sm_str_eq(events[i - 1].kind, sm_feed_kinds[ends].name);

        if (over
            || sm_str_eq(events[i - 1].kind, sm_feed_kinds[begins].name))
        {
            break;
        }
    }

    ngx_free(buf);

    return over;
}


void
ngx_http_submission_events_all(ngx_http_submission_manager_t *manager,
    sm_arena_t *arena, sm_feed_event_t **events, size_t *n)
{
    void     *buf;
    int64_t   heard;

    buf = sm_arena_alloc(arena,
                         ngx_http_submission_events_size(manager->conf) + 1);

    *n = buf ? ngx_http_submission_events(manager->conf, buf, events, &heard)
             : 0;
}


/* Whether an event of this instance is to be told by its row. */

static ngx_uint_t
ngx_http_submission_events_untold(ngx_http_submission_feed_shctx_t *feed,
    const sm_feed_event_t *event)
{
    if (event->origin == (uint32_t) feed->own.origin) {
        return event->n > (uint32_t) feed->own.told;
    }

    return feed->before.origin
           && event->origin == (uint32_t) feed->before.origin
           && event->n > (uint32_t) feed->before.told;
}


void
ngx_http_submission_events_own(ngx_http_submission_manager_t *manager,
    sm_arena_t *arena, sm_str_t *doc)
{
    char                              *buf;
    size_t                             i, n, own;
    sm_out_t                           out;
    sm_feed_event_t                   *events;
    ngx_http_submission_feed_shctx_t  *feed;

    feed = manager->sh->feed;

    if (feed->offset == 0) {
        return;
    }

    ngx_http_submission_events_all(manager, arena, &events, &n);

    own = 0;

    for (i = 0; i < n; i++) {
        if (ngx_http_submission_events_untold(feed, &events[i])) {
            events[own++] = events[i];
        }
    }

    buf = own ? sm_arena_alloc(arena, SM_FEED_OWN_MAX) : NULL;

    if (buf) {
        sm_out_init(&out, buf, SM_FEED_OWN_MAX);
        sm_feed_doc_out(&out, events, own, SM_FEED_FIRST, SM_FEED_OWN_MAX);

        doc->data = out.start;
        doc->len = out.last - out.start;
    }
}


/* A leader's document says which events of this instance all others get. */

static void
ngx_http_submission_events_told(ngx_http_submission_feed_own_t *own,
    const sm_feed_event_t *event)
{
    if (event->origin == (uint32_t) own->origin
        && event->n > (uint32_t) own->told)
    {
        own->told = event->n;
    }
}


void
ngx_http_submission_events_learn(ngx_http_submission_manager_t *manager,
    const sm_feed_event_t *events, size_t n, ngx_http_submission_events_e from)
{
    size_t                             i;
    ngx_http_submission_feed_shctx_t  *feed;

    feed = manager->sh->feed;

    if (feed->size == 0 || manager->conf->tenure != manager->sh->tenure) {
        return;
    }

    feed->heard = (ngx_atomic_uint_t) ngx_max(
                                      ngx_http_submission_events_now(feed), 0);

    if (n == 0) {
        return;
    }

    ngx_shmtx_lock(ngx_http_submission_events_mutex(manager->conf));

    ngx_http_submission_events_repair(manager->conf);

    for (i = 0; i < n && !feed->torn; i++) {

        if (events[i].origin == (uint32_t) feed->own.origin
            || events[i].origin == (uint32_t) feed->before.origin)
        {
            if (from == NGX_HTTP_SUBMISSION_EVENTS_DOC) {
                ngx_http_submission_events_told(&feed->own, &events[i]);
                ngx_http_submission_events_told(&feed->before, &events[i]);
            }

            continue;
        }

        if (sm_feed_takes(&feed->have, &events[i],
                          from != NGX_HTTP_SUBMISSION_EVENTS_ROWS))
        {
            feed->torn = 1;
            ngx_memory_barrier();

            ngx_http_submission_zone_feed_write(feed, manager->conf->tenure,
                                                &events[i]);
            sm_feed_cursor_seen(&feed->have, &events[i]);

            ngx_memory_barrier();
            feed->torn = 0;
        }
    }

    ngx_shmtx_unlock(ngx_http_submission_events_mutex(manager->conf));
}


/*
 * Each worker says that it begins.  One that takes the place of another one, of
 * the same configuration, was started because that one died, unless it exits or
 * has exited in an orderly way: then it was called back, after a new binary was
 * given up.
 */

static void
ngx_http_submission_event_worker(ngx_http_submission_manager_t *manager)
{
    ngx_atomic_t       *worker;
    ngx_atomic_uint_t   before;

    static const sm_str_t  none;

    worker = &manager->sh->feed->workers[ngx_worker
                                       % NGX_HTTP_SUBMISSION_FEED_WORKERS];

    before = *worker;
    *worker = (ngx_atomic_uint_t) ngx_pid;

    if (before
        && (before == (ngx_atomic_uint_t) ngx_pid
            || (kill((ngx_pid_t) before, 0) == -1 && ngx_errno == ESRCH)))
    {
        ngx_http_submission_event(manager, SM_FEED_WORKER_DIED, none,
                                  "A worker process of %V died, and nginx has "
                                  "started another one (%P): its error log "
                                  "says why.", &manager->holder_id, ngx_pid);
    }
}


void
ngx_http_submission_event_end(ngx_http_submission_manager_t *manager)
{
    (void) ngx_atomic_cmp_set(&manager->sh->feed->workers[ngx_worker
                                         % NGX_HTTP_SUBMISSION_FEED_WORKERS],
                              (ngx_atomic_uint_t) ngx_pid, 0);
}


/* A new zone has a configuration before its first start: see zone.c. */

void
ngx_http_submission_event_begin(ngx_http_submission_manager_t *manager,
    ngx_cycle_t *cycle)
{
    char                              *zone;
    ngx_uint_t                         generation;
    ngx_atomic_uint_t                  told, config;
    ngx_http_submission_feed_shctx_t  *feed;

    static const sm_str_t  none;

    feed = manager->sh->feed;

    generation = manager->conf->generation;
    config = (ngx_atomic_uint_t) sm_config_hash(manager->conf->config.text);
    told = feed->told;

    if (told < generation
        && ngx_atomic_cmp_set(&feed->told, told, generation))
    {
        zone = told ? "" : " with a new zone";

        if (told == 0 && feed->config == 0) {
            ngx_http_submission_event(manager, SM_FEED_INSTANCE_STARTED, none,
                                      "%V has started, with version "
                                      NGX_HTTP_SUBMISSION_VERSION
                                      " of the module.", &manager->holder_id);

        } else if (feed->config == config) {
            ngx_http_submission_event(manager, SM_FEED_RELOADED, none,
                                      "%V was reloaded%s; what matters of its "
                                      "configuration is as it was.",
                                      &manager->holder_id, zone);

        } else {
            ngx_http_submission_event(manager, SM_FEED_CONFIGURATION_CHANGED,
                                      none,
                                      "%V was reloaded with %sa changed "
                                      "configuration.", &manager->holder_id,
                                      *zone ? "a new zone and " : "");
        }

        feed->config = config;
    }

    if (generation == manager->sh->generation) {
        ngx_http_submission_event_worker(manager);
    }
}
