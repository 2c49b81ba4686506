#ifndef INSTANCES
#define INSTANCES  2
#endif

#ifndef LATE_CALLS
#define LATE_CALLS  1
#endif

#define LEASE(w)   (w)
#define WRITE(w)   (INSTANCES + (w))
#define LATE       (2 * INSTANCES)
#define CALLS      (2 * INSTANCES + LATE_CALLS)

#define NOBODY     INSTANCES
#define UNLOCKED   CALLS

#if defined(NO_LOCK_FILE)
#define HOLDER(w)  0
#define ZONE(w)    0
#elif defined(SAME_HOLDER)
#define HOLDER(w)  0
#define ZONE(w)    (w)
#else
#define HOLDER(w)  (w)
#define ZONE(w)    (w)
#endif

mtype:op     = { NONE, ACQUIRE, RENEW, TAKEOVER, RELEASE,
                 RECOVER, BEGIN, GIVE_BACK, COMPLETE };
mtype:stage  = { IDLE, SENT, LOCKED, OK, NOTHING, REFUSED };
mtype:role   = { FOLLOWER, STARTING, LEADER, GIVING_UP };
mtype:exec   = { OFF, REBUILD, READY, BEGUN, GATE, SENDING };
mtype:intent = { PENDING, INFLIGHT, DONE };

typedef row_t {
    byte          holder = NOBODY;
    byte          epoch;
    byte          lock = UNLOCKED
};

typedef call_t {
    mtype:op      op = NONE;
    mtype:stage   stage = IDLE;
    byte          who;
    byte          epoch;
};

typedef worker_t {
    mtype:role    role = FOLLOWER;
    byte          epoch;
    bool          late;
    mtype:exec    exec = OFF
};

typedef intent_t {
    mtype:intent  status = PENDING;
    byte          epoch;
    bool          sent
};

row_t     row;
call_t    call[CALLS];
worker_t  worker[INSTANCES];
byte      zone[INSTANCES];
intent_t  intent;
bool      calm;

bool  two_leaders, leads_without_lease, one_epoch_two_workers;
bool  renewed_gone_epoch, epoch_not_new, stale_commit, not_begun, sent_twice;
byte  i, j, seen;

#define CLAIM(c)    (call[c].op == ACQUIRE || call[c].op == TAKEOVER)
#define REPLIED(c)  (call[c].stage == OK || call[c].stage == NOTHING || call[c].stage == REFUSED)
#define LEADS(w)    (worker[w].role == LEADER && !worker[w].late)
#define HELD(c)     (row.holder == HOLDER(call[c].who))
#define FENCE(c)    (HELD(c) && row.epoch == call[c].epoch)


#define note(e)   seen = seen | (1 << e)
#define lower(e)  if :: e > j -> e-- :: else fi

inline clear(c)
{
    call[c].op = NONE;
    call[c].stage = IDLE;
    call[c].who = 0;
    call[c].epoch = 0
}

inline drop_refused()
{
    i = 0;
#ifndef BROKEN
    i = LATE;
    do
    :: i < CALLS ->
        if
        :: call[i].stage == SENT && call[i].op != ACQUIRE && !FENCE(i) ->
            clear(i)
        :: else
        fi;
        i++
    :: else -> break
    od
#endif
}

inline squeeze()
{
    do
    :: true ->
        seen = 1;
        note(row.epoch);
        note(intent.epoch);
        for (i : 0 .. INSTANCES - 1) {
            note(worker[i].epoch);
            note(zone[i])
        }
        for (i : 0 .. CALLS - 1) {
            note(call[i].epoch)
        }

        if
        :: (seen & (seen + 1)) == 0 -> break
        :: else
        fi;

        j = 0;
        do
        :: seen & (1 << j) -> j++
        :: else -> break
        od;

        lower(row.epoch);
        lower(intent.epoch);
        for (i : 0 .. INSTANCES - 1) {
            lower(worker[i].epoch);
            lower(zone[i])
        }
        for (i : 0 .. CALLS - 1) {
            lower(call[i].epoch)
        }
    od
}

inline check()
{
    two_leaders = false;
    leads_without_lease = false;
    one_epoch_two_workers = false;

    for (i : 0 .. INSTANCES - 1) {

        if
        :: (LEADS(i) && (row.holder != HOLDER(i)
                         || row.epoch != worker[i].epoch)) ->
            leads_without_lease = true
        :: else
        fi;

        for (j : 0 .. INSTANCES - 1) {
            if
            :: i < j && LEADS(i) && LEADS(j) ->
                two_leaders = true
            :: else
            fi;
            if
            :: (i < j && worker[i].epoch != 0
                && worker[i].epoch == worker[j].epoch) ->
                one_epoch_two_workers = true
            :: else
            fi
        }
    }

#ifndef FENCE_ONLY
    assert(!two_leaders);
    assert(!leads_without_lease);
#endif
    assert(!one_epoch_two_workers);
    i = 0; j = 0; seen = 0
}

inline settle()
{
    drop_refused();
    squeeze();
    check()
}


/* the server's side */

inline grant(c)
{
    row.epoch++;
    row.holder = HOLDER(call[c].who);

    epoch_not_new = false;
    for (i : 0 .. INSTANCES - 1) {
        if
        :: worker[i].epoch >= row.epoch || zone[i] >= row.epoch ->
            epoch_not_new = true
        :: else
        fi
    }
    assert(!epoch_not_new);

    call[c].epoch = row.epoch;
    call[c].stage = OK
}

inline refuse(c)
{
    if
    :: HELD(c) -> call[c].epoch = row.epoch
    :: else -> call[c].epoch = 0
    fi;
    call[c].stage = REFUSED
}

#if defined(TAKEOVER_NO_EPOCH)
#define TAKEOVER_IF(c)  HELD(c)
#else
#define TAKEOVER_IF(c)  FENCE(c)
#endif

#if defined(RENEW_ANY_EPOCH)
#define RENEW_IF(c)     HELD(c)
#elif defined(RENEW_EXPIRED)
#define RENEW_IF(c)     (row.epoch == call[c].epoch)
#else
#define RENEW_IF(c)     FENCE(c)
#endif

#if defined(RELEASE_NO_EPOCH)
#define RELEASE_IF(c)   HELD(c)
#else
#define RELEASE_IF(c)   FENCE(c)
#endif

#if defined(NO_FENCE)
#define WRITE_IF(c)     true
#else
#define WRITE_IF(c)     FENCE(c)
#endif

inline statement(c)
{
    if
    :: call[c].op == ACQUIRE ->
        if
        :: row.holder == NOBODY -> grant(c)
        :: else -> refuse(c)
        fi

    :: call[c].op == TAKEOVER ->
        if
        :: TAKEOVER_IF(c) -> grant(c)
        :: else -> refuse(c)
        fi

    :: call[c].op == RENEW ->
        if
        :: RENEW_IF(c) ->
            renewed_gone_epoch = (row.epoch != call[c].epoch);
            assert(!renewed_gone_epoch);
            row.holder = HOLDER(call[c].who);
            call[c].stage = OK
        :: else -> call[c].stage = REFUSED
        fi

    :: call[c].op == RELEASE ->
        if
        :: RELEASE_IF(c) -> row.holder = NOBODY
        :: else
        fi;
        call[c].stage = OK

    :: else ->
        if
        :: WRITE_IF(c) ->
#ifndef NO_LOCK
            row.lock = c;
#endif
            call[c].stage = LOCKED
        :: else -> call[c].stage = REFUSED
        fi
    fi
}

inline unlock(c)
{
    if
    :: row.lock == c -> row.lock = UNLOCKED
    :: else
    fi
}

#define MINE(c)  (intent.status == INFLIGHT && intent.epoch == call[c].epoch)

inline commit(c)
{
    stale_commit = (call[c].epoch != row.epoch);
    assert(!stale_commit);

    call[c].stage = OK;

    if
    :: (call[c].op == RECOVER && intent.status == INFLIGHT
        && intent.epoch < call[c].epoch) ->
#ifndef RESEND_IN_DOUBT
        intent.status = DONE;
#else
        intent.status = PENDING;
#endif
        intent.epoch = 0

    :: call[c].op == BEGIN && intent.status == PENDING ->
        intent.status = INFLIGHT;
        intent.epoch = call[c].epoch

    :: call[c].op == BEGIN && intent.status != PENDING ->
        call[c].stage = NOTHING

    :: call[c].op == GIVE_BACK && MINE(c) ->
        intent.status = PENDING;
        intent.epoch = 0

    :: call[c].op == COMPLETE && MINE(c) ->
        intent.status = DONE;
        intent.epoch = 0

    :: else
    fi;

    unlock(c)
}

active [CALLS] proctype session()
{
    do
    :: d_step {
        call[_pid].stage == SENT && row.lock == UNLOCKED ->
        statement(_pid);
        if
        :: _pid >= LATE && REPLIED(_pid) -> clear(_pid)
        :: else
        fi;
        settle()
       }

    :: d_step {
        call[_pid].stage == LOCKED ->
        commit(_pid);
        if
        :: _pid >= LATE -> clear(_pid)
        :: else
        fi;
        settle()
       }

    :: d_step {
        _pid >= LATE && call[_pid].stage != IDLE ->
        unlock(_pid);
        clear(_pid);
        settle()
       }
    od
}


/* the worker's side */

inline post(c, what)
{
    call[c].op = what;
    call[c].stage = SENT;
    call[c].who = w;
    call[c].epoch = worker[w].epoch
}

inline abandon(c)
{
    i = LATE;
    do
    :: i < CALLS && call[i].op != NONE -> i++
    :: else -> break
    od;

    if
    :: i < CALLS && (call[c].stage == SENT || call[c].stage == LOCKED) ->
        call[i].op = call[c].op;
        call[i].stage = call[c].stage;
        call[i].who = call[c].who;
        call[i].epoch = call[c].epoch;
        if
        :: row.lock == c -> row.lock = i
        :: else
        fi
    :: else -> unlock(c)
    fi;

    clear(c)
}

inline become(what)
{
    worker[w].role = what;
    if
    :: what == FOLLOWER -> worker[w].epoch = 0
    :: else
    fi;
    worker[w].late = false;
    worker[w].exec = OFF;
    zone[ZONE(w)] = worker[w].epoch;
    abandon(LEASE(w));
    abandon(WRITE(w))
}

#define EPOCH     worker[w].epoch
#define RUNS      (worker[w].exec != GATE && !(worker[w].role == LEADER && worker[w].late))
#define FREE(c)   (call[c].op == NONE)
#define ROLE(r)   (worker[w].role == r)
#define EXEC(x)   (worker[w].exec == x)

inline lease_reply(c)
{
    if
    :: CLAIM(c) && call[c].stage == OK && !worker[w].late ->
        EPOCH = call[c].epoch; become(LEADER);
        worker[w].exec = REBUILD

    :: CLAIM(c) && call[c].stage == OK && worker[w].late ->
        EPOCH = call[c].epoch; become(GIVING_UP)

    :: CLAIM(c) && call[c].stage == REFUSED ->
#ifndef OWN_ROW_WAITS
        if
        :: call[c].epoch != 0 -> EPOCH = call[c].epoch; become(GIVING_UP)
        :: else -> become(FOLLOWER)
        fi
#else
        become(FOLLOWER)
#endif

    :: call[c].op == RENEW && call[c].stage == REFUSED ->
        become(FOLLOWER)

    :: call[c].op == RELEASE -> become(FOLLOWER)

    :: else
    fi;

    clear(c)
}

inline write_reply(c)
{
    if
    :: call[c].stage == REFUSED -> become(FOLLOWER)
    :: call[c].op == RECOVER && call[c].stage == OK ->
        worker[w].exec = READY

    :: call[c].op == BEGIN && call[c].stage == OK ->
        worker[w].exec = BEGUN

    :: else
    fi;

    clear(c)
}

active [INSTANCES] proctype instance()
{
    byte w = _pid - CALLS;

    do

    /* _leader.c */

    :: d_step {
        ROLE(STARTING) && FREE(LEASE(w)) ->
        post(LEASE(w), TAKEOVER);
        settle()
       }

    :: d_step {
        (ROLE(FOLLOWER) && FREE(LEASE(w)) && (!calm || row.holder == NOBODY
#ifndef OWN_ROW_WAITS
         || row.holder == HOLDER(w)
#endif
        )) ->
        post(LEASE(w), ACQUIRE);
        settle()
       }

    :: d_step {
        LEADS(w) && RUNS && FREE(LEASE(w)) ->
        post(LEASE(w), RENEW);
        settle()
       }

    :: d_step {
        ROLE(GIVING_UP) && FREE(LEASE(w)) ->
        post(LEASE(w), RELEASE);
        settle()
       }

    :: d_step {
        RUNS && REPLIED(LEASE(w)) ->
        lease_reply(LEASE(w));
        settle()
       }

    :: d_step {
        ROLE(LEADER) && !EXEC(GATE) && worker[w].late ->
        become(GIVING_UP);
        settle()
       }

    :: d_step {
        RUNS && ROLE(LEADER) && !calm ->
        become(GIVING_UP);
        settle()
       }

    :: d_step {
        !ROLE(LEADER) && !FREE(LEASE(w)) && !calm ->
        abandon(LEASE(w));
        worker[w].late = false;
        settle()
       }


    /* _executor.c */

    :: d_step {
        RUNS && EXEC(REBUILD) && FREE(WRITE(w)) ->
        post(WRITE(w), RECOVER);
        settle()
       }

    :: d_step {
        RUNS && EXEC(READY) && FREE(WRITE(w)) ->
        post(WRITE(w), BEGIN);
        settle()
       }

    :: d_step {
        RUNS && EXEC(BEGUN) ->
        not_begun = (intent.status != INFLIGHT || intent.epoch != EPOCH);
#ifndef FENCE_ONLY
        assert(!not_begun);
#endif
        worker[w].exec = GATE;
        settle()
       }

    :: d_step {
        EXEC(GATE) ->
        sent_twice = intent.sent;
        assert(!sent_twice);
        intent.sent = true;
        worker[w].exec = SENDING;
        settle()
       }

    :: d_step {
        RUNS && EXEC(SENDING) && FREE(WRITE(w)) ->
        post(WRITE(w), COMPLETE);
        worker[w].exec = READY;
        settle()
       }

    :: d_step {
        RUNS && EXEC(BEGUN) && FREE(WRITE(w)) && !calm ->
        post(WRITE(w), GIVE_BACK);
        worker[w].exec = READY;
        settle()
       }

    :: d_step {
        RUNS && REPLIED(WRITE(w)) ->
        write_reply(WRITE(w));
        settle()
       }


    /* what happens to it */

    :: d_step {
        !calm && !worker[w].late && (ROLE(LEADER) || CLAIM(LEASE(w))) ->
        worker[w].late = true;
        settle()
       }

    :: d_step {
        !calm && zone[ZONE(w)] != 0 ->
        EPOCH = zone[ZONE(w)];
        become(STARTING);
        settle()
       }

    :: d_step {
        !calm ->
        become(FOLLOWER);
        settle()
       }
    od
}


#define BACKS(w)  (!worker[w].late && row.holder == HOLDER(w) \
                   && ((worker[w].role == LEADER \
                        && worker[w].epoch == row.epoch) \
                       || (CLAIM(LEASE(w)) && call[LEASE(w)].stage == OK \
                           && call[LEASE(w)].epoch == row.epoch)))

#if defined(CLOCK_JUMPS)
#define BACKED  false
#elif INSTANCES == 2
#define BACKED  (BACKS(0) || BACKS(1))
#else
#define BACKED  (BACKS(0) || BACKS(1) || BACKS(2))
#endif

#ifdef CALM_NO_EXPIRY
#define EXPIRY !calm
#else
#define EXPIRY true
#endif
active proctype sql_clock()
{
    do
    :: d_step {
        row.holder != NOBODY && !BACKED && EXPIRY ->
        row.holder = NOBODY;
        settle()
       }
    od
}


#ifdef CALM

active proctype weather()
{
    calm = true
}

#if INSTANCES == 2
#define LED  (LEADS(0) || LEADS(1))
#else
#define LED  (LEADS(0) || LEADS(1) || LEADS(2))
#endif

ltl a_leader_comes_and_stays { [] (calm -> <> [] LED) }

#endif
