/*
 * The lease protocol: who leads, what SQL lets through, and what it refuses.
 *
 * t/model/check.sh runs it through spin: every interleaving, with any number
 * of crashes, lost messages, expiries and epochs, for INSTANCES instances.
 *
 *
 * WHAT IS MODELLED
 *
 * row       The row of submission_manager_leases. No statement looks at the
 *           holder of an expired row, so "missing", "expired" and "given up"
 *           are one: the holder is NOBODY. row.lock is the transaction that
 *           has locked the row; every statement waits for it.
 *
 * call[]    A statement on its way. Each step is one that something else can
 *           come between: posted, executed (a fenced write: locked and
 *           checked, and committed later), answered. A worker has one lease
 *           call and one batch of executor writes in flight, as src/leader and
 *           src/executor do. A call whose caller has died, timed out or lost
 *           interest becomes one of LATE_CALLS late calls: it executes at any
 *           time later, or never, and nobody hears of it. A reply can be lost
 *           at any time. So a statement that was not executed and one whose
 *           reply was lost look the same to the worker.
 *
 * worker[]  The executor worker of each instance, the one that has the lock
 *           file. A crash at any point, a reload and a quit are all followed
 *           by a successor in the same place; it knows what is in the zone.
 *           Whatever a predecessor left behind is among the late calls.
 *
 *           Its roles are the states of src/core/rule/sm_leader.c:
 *
 *           FOLLOWER   FOLLOWER, and no epoch is known to be its instance's
 *           STARTING   FOLLOWER, and one is: it is taken over
 *           LEADER     RECOVERING (its exec is REBUILD) and LEADER
 *           DRAINING   DRAINING, if something is in hand or under way, with
 *                      the switch DRAINS: nothing is begun, an error of the
 *                      store or the deadline ends nothing, the epoch is
 *                      renewed, and what was begun may be sent in time
 *           GIVING_UP  RELEASING, and what follows when it was starved, or
 *                      finds a row of its own that nobody leads by
 *
 *           STANDBY and LEFT have no part in it. A quit without DRAINS goes
 *           from LEADER to GIVING_UP at once.
 *
 * zone[]    What the instance's worker has published: the epoch granted last. It
 *           outlives the worker, and not the instance. holder_id outlives
 *           both: an instance that comes back with another one is a new
 *           instance.
 *
 * A claim (acquire or takeover) may be granted without its worker's knowing. So
 * a row of its own holder that no worker leads by is given up; if other
 * instances may have the same holder_id (SAME_HOLDER), only one that has come
 * from a takeover of an epoch that the instance has held.
 *
 * intent    One one_shot intent, for what the fence is good for: begin, send,
 *           complete, give back what is not sent, recover what is in doubt.
 *           What a worker has in hand of it, an attempt that is not sent, has
 *           been, or is to be given back, it keeps when it loses the lease, and
 *           until another leads. It recovers all but that, and records it under
 *           whatever epoch it holds then.
 *
 * Time is what may happen next. A lease expires in SQL at any time, but not
 * before the deadline of the worker that it was granted to, if that worker
 * still counts on it: the deadline is taken when the request starts, SQL's
 * expiry when it is executed. The deadline itself passes at any time. What a
 * worker does is one step if nothing that it could notice comes between: a
 * handler may be stopped before, and its request may then linger in "posted",
 * which is the same as a pause before posting. The one place where a pause
 * within a handler shows outside is between send gate and send: two steps,
 * between which that event loop does nothing else.
 *
 * Epochs grow for ever. Only which is newer counts, so those that nobody
 * remembers are squeezed out, and the search is finite without a bound on them.
 *
 *
 * WHAT IS CHECKED, in every state
 *
 * leads_without_lease    A worker believes to lead, by its role and deadline,
 *                        but the row is not its own, at its epoch, unexpired.
 * two_leaders            Two believe to lead.
 * one_epoch_two_leaders  Two have the same epoch, whether in time or not.
 * epoch_not_new          A grant's epoch is not above all that are known.
 * stale_commit           A fenced write commits after a newer epoch's grant.
 * not_begun              The gate opens for an intent that is not marked in
 *                        flight under the worker's epoch.
 * sent_twice             The intent is sent again.
 * dropped                A worker takes what it has in hand for in doubt.
 *
 * And with CALM, from some point on SQL answers, nobody crashes, and calls are
 * quick enough for their deadlines:
 *
 * settles                A leader comes, and stays, and the intent ends. With
 *                        CALM_NO_EXPIRY no lease has to expire for this, as
 *                        long as no instance dies with its zone: trouble
 *                        costs a moment and not a lease (G8). Both find
 *                        deadlocks too; before the calm there are none, as
 *                        there is always something that can crash.
 *
 *
 * WHAT IS GUARANTEED, exactly
 *
 * A fenced write commits before any newer grant, or not at all. It may commit
 * after its own lease's expiry: the row was locked before, and the next
 * acquire waits for the commit. Time has no part in this (CLOCK_JUMPS).
 *
 * A send starts after an instant at which its worker held the lease in SQL,
 * and late by no more than the pause of the process between gate and send. In
 * such a pause another may come to lead. The late send's outcome cannot be
 * written any more, its attempt is or will be recorded as in doubt, and if it
 * is a one_shot there is no other send of it, neither before nor after.
 *
 *
 * SWITCHES, each of which must make the search fail
 *
 * NO_FENCE           writes check nothing
 * NO_LOCK            the fence is checked, but no lock is held to the commit
 * RENEW_ANY_EPOCH    renew looks at the holder alone (LATE_RENEW_COUNTS)
 * TAKEOVER_NO_EPOCH  so does takeover
 * RELEASE_NO_EPOCH   so does release
 * LATE_CLAIM_LEADS   the answer to a claim counts, however late it comes
 * LEADS_TO_THE_END   the role is left when the release is answered, not before
 * LEADS_ON           a failed write does not end leadership (CALM)
 * GATE_ANY_EPOCH     the gate does not look at the epoch of the attempt
 * RECOVERS_ITS_OWN   whoever leads again does not know what it has in hand
 * RESEND_IN_DOUBT    a one_shot intent in doubt becomes pending
 * OWN_ROW_WAITS      an own row that no worker leads by is left to expire
 *                    (CALM_NO_EXPIRY: it costs a lease, and no more)
 * NO_LOCK_FILE       the workers are all of one instance
 * TRUST_HOLDER       the instances have the same holder_id (SAME_HOLDER), and
 *                    take each other's rows for their own
 * DRAINS_LATE        one that drains sends after its deadline (DRAINS)
 * CLOCK_JUMPS        SQL's clock jumps ahead, or deadlines start at the answer
 *                    (harmless to what FENCE_ONLY leaves to be checked)
 * NO_LATE_SEND       claims that no send is ever late
 * NO_LATE_COMMIT     claims that no write commits after its lease's expiry
 *
 * And those that must not:
 *
 * LATE_RENEW_COUNTS  the answer to a renew may be found before the deadline
 *                    that has passed meanwhile; it counts from its own start
 * DRAINS             a worker that quits keeps the lease for what it has in
 *                    hand, whatever the store says
 * FORGETS            what a worker has in hand is lost with the lease: fewer
 *                    states, for checks of the lease alone
 * KEEP_REFUSED       see forget_refused()
 */

#ifndef INSTANCES
#define INSTANCES   2
#endif

#ifndef LATE_CALLS
#define LATE_CALLS  2
#endif

#if defined(NO_FENCE) || defined(NO_LOCK) || defined(RENEW_ANY_EPOCH) \
    || defined(TAKEOVER_NO_EPOCH) || defined(RELEASE_NO_EPOCH)
#define KEEP_REFUSED
#endif


#define LEASE(w)    (w)
#define WRITE(w)    (INSTANCES + (w))
#define LATE        (2 * INSTANCES)
#define CALLS       (2 * INSTANCES + LATE_CALLS)

#define NOBODY      INSTANCES
#define UNLOCKED    CALLS

mtype:op     = { NONE, ACQUIRE, RENEW, TAKEOVER, RELEASE,
                 RECOVER, BEGIN, GIVE_BACK, COMPLETE };
mtype:stage  = { IDLE, POSTED, LOCKED, OK, NOTHING, REFUSED };
mtype:role   = { FOLLOWER, STARTING, LEADER, DRAINING, GIVING_UP };
mtype:exec   = { OFF, REBUILD, READY, GATE };
mtype:hand   = { EMPTY, UNSENT, SENT, UNDO };
mtype:status = { PENDING, INFLIGHT, DONE };

typedef row_t {
    byte          holder = NOBODY;
    byte          epoch;
    byte          from;             /* the epoch taken over, 0: none was */
    byte          lock = UNLOCKED
};

typedef call_t {
    mtype:op      op = NONE;
    mtype:stage   stage = IDLE;
    byte          epoch;            /* argument, and answer of a claim */
    byte          about;            /* the epoch of what is in hand */
    bool          own;              /* answer: the row is the caller's */
    bool          late;             /* its deadline, if granted, has passed */
    byte          who               /* of a late call */
};

typedef worker_t {
    mtype:role    role = FOLLOWER;
    mtype:exec    exec = OFF;
    byte          epoch;
    mtype:hand    hand = EMPTY;
    byte          known;            /* the epoch of what is in hand */
    bool          late              /* its deadline has passed */
};

typedef zone_t {
    byte          held              /* the epoch granted last, and not over */
};

typedef intent_t {
    mtype:status  status = PENDING;
    byte          epoch;
    bool          sent
};

row_t     row;
call_t    call[CALLS];
worker_t  worker[INSTANCES];
zone_t    zone[INSTANCES];
intent_t  intent;
bool      calm;

bool      leads_without_lease, two_leaders, one_epoch_two_leaders;
bool      epoch_not_new, stale_commit;
bool      not_begun, sent_twice, dropped, late_send, late_commit;

byte      i, j;                     /* these are zero between steps */
int       seen;


#if defined(NO_LOCK_FILE)
#define HOLDER(w)   0
#define ZONE(w)     0
#elif defined(SAME_HOLDER)
#define HOLDER(w)   0
#define ZONE(w)     (w)
#else
#define HOLDER(w)   (w)
#define ZONE(w)     (w)
#endif

#define WHO(c)      ((c) < LATE -> (c) % INSTANCES : call[c].who)
#define IS_LATE(c)  ((c) >= LATE)
#define FREE(c)     (call[c].op == NONE)
#define RUNNING(c)  (call[c].stage == POSTED || call[c].stage == LOCKED)
#define REPLIED(c)  (!FREE(c) && !RUNNING(c))
#define RENEWING(w) (call[LEASE(w)].op == RENEW)
#define CLAIM(c)    (call[c].op == ACQUIRE || call[c].op == TAKEOVER)
#define EXECUTES(w) (worker[w].role == LEADER || worker[w].role == DRAINING)
#define LEADS(w)    (EXECUTES(w) && !worker[w].late)

#define HELD(c)     (row.holder == HOLDER(WHO(c)))
#define FENCE(c)    (HELD(c) && row.epoch == call[c].epoch)


inline clear(c)
{
    call[c].op = NONE;
    call[c].stage = IDLE;
    call[c].epoch = 0;
    call[c].about = 0;
    call[c].own = false;
    call[c].late = false;
    call[c].who = 0
}


/*
 * The end of each step
 */

/* nobody waits for a late call: once its fence is gone, so may be the call */

inline forget_refused()
{
    for (i : LATE .. CALLS - 1) {
        if
#ifndef KEEP_REFUSED
        :: call[i].stage == POSTED && call[i].op != ACQUIRE && !FENCE(i) ->
            clear(i)
#endif
        :: else
        fi
    }
}

#define note(e)     seen = seen | (1 << e)
#define lower(e)    if :: e > j -> e-- :: else fi

inline squeeze_epochs()
{
    do
    :: true ->
        seen = 1;
        note(row.epoch);
        note(row.from);
        note(intent.epoch);
        for (i : 0 .. INSTANCES - 1) {
            note(worker[i].epoch);
            note(worker[i].known);
            note(zone[i].held)
        }
        for (i : 0 .. CALLS - 1) {
            note(call[i].epoch);
            note(call[i].about)
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
        lower(row.from);
        lower(intent.epoch);
        for (i : 0 .. INSTANCES - 1) {
            lower(worker[i].epoch);
            lower(worker[i].known);
            lower(zone[i].held)
        }
        for (i : 0 .. CALLS - 1) {
            lower(call[i].epoch);
            lower(call[i].about)
        }
    od
}

inline check()
{
    leads_without_lease = false;
    two_leaders = false;
    one_epoch_two_leaders = false;

    for (i : 0 .. INSTANCES - 1) {

        if
        :: (LEADS(i) && (row.holder != HOLDER(i)
                         || row.epoch != worker[i].epoch)) ->
            leads_without_lease = true
        :: else
        fi;

        for (j : i + 1 .. INSTANCES - 1) {

            if
            :: LEADS(i) && LEADS(j) -> two_leaders = true
            :: else
            fi;

            if
            :: (EXECUTES(i) && EXECUTES(j)
                && worker[i].epoch == worker[j].epoch) ->
                one_epoch_two_leaders = true
            :: else
            fi
        }
    }

#ifndef FENCE_ONLY
    assert(!leads_without_lease);
    assert(!two_leaders);
#endif
    assert(!one_epoch_two_leaders)
}

inline settle()
{
    forget_refused();
    squeeze_epochs();
    check();
    i = 0;
    j = 0;
    seen = 0
}


/*
 * SQL: src/store, sql/
 */

#if defined(RENEW_ANY_EPOCH)
#define RENEW_FENCE(c)     HELD(c)
#else
#define RENEW_FENCE(c)     FENCE(c)
#endif

#if defined(TAKEOVER_NO_EPOCH)
#define TAKEOVER_FENCE(c)  HELD(c)
#else
#define TAKEOVER_FENCE(c)  FENCE(c)
#endif

#if defined(RELEASE_NO_EPOCH)
#define RELEASE_FENCE(c)   HELD(c)
#else
#define RELEASE_FENCE(c)   FENCE(c)
#endif

#if defined(NO_FENCE)
#define WRITE_FENCE(c)     true
#else
#define WRITE_FENCE(c)     FENCE(c)
#endif

inline grant(c)
{
#ifdef SAME_HOLDER
    if
    :: call[c].op == TAKEOVER -> row.from = row.epoch
    :: else -> row.from = 0
    fi;
#endif
    row.epoch++;
    row.holder = HOLDER(WHO(c));

    epoch_not_new = (intent.epoch >= row.epoch);
    for (i : 0 .. INSTANCES - 1) {
        if
        :: worker[i].epoch >= row.epoch || zone[i].held >= row.epoch ->
            epoch_not_new = true
        :: else
        fi
    }
    assert(!epoch_not_new);

    call[c].epoch = row.epoch;
    call[c].stage = OK
}

/* says at which epoch, if the holder is the caller itself */

#if defined(OWN_ROW_WAITS)
#define OWN_ROW(c)  false
#elif defined(SAME_HOLDER) && !defined(TRUST_HOLDER)
#define OWN_ROW(c)  (HELD(c) && row.from != 0 && row.from == call[c].epoch)
#else
#define OWN_ROW(c)  HELD(c)
#endif

inline refuse(c)
{
    call[c].own = OWN_ROW(c);

    if
    :: HELD(c) -> call[c].epoch = row.epoch
    :: else -> call[c].epoch = 0
    fi;

    call[c].stage = REFUSED
}

inline lease_statement(c)
{
    if
    :: call[c].op == ACQUIRE ->
        if
        :: row.holder == NOBODY -> grant(c)
        :: else -> refuse(c)
        fi

    :: call[c].op == TAKEOVER ->
        if
        :: TAKEOVER_FENCE(c) -> grant(c)
        :: else -> refuse(c)
        fi

    :: call[c].op == RENEW ->
        if
        :: RENEW_FENCE(c) ->
            call[c].stage = OK
        :: else ->
            call[c].stage = REFUSED
        fi

    :: call[c].op == RELEASE ->
        if
        :: RELEASE_FENCE(c) -> row.holder = NOBODY
        :: else
        fi;
        call[c].stage = OK
    fi
}

/* a fenced write, until the row is locked and checked */

inline write_begin(c)
{
    if
    :: WRITE_FENCE(c) ->
#ifndef NO_LOCK
        row.lock = c;
#endif
        call[c].stage = LOCKED
    :: else ->
        call[c].stage = REFUSED
    fi
}

inline unlock(c)
{
    if
    :: row.lock == c -> row.lock = UNLOCKED
    :: else
    fi
}

#define IN_FLIGHT(c)  (intent.status == INFLIGHT \
                       && intent.epoch == call[c].about)

#if defined(RECOVERS_ITS_OWN)
#define IN_DOUBT(c)   (intent.status == INFLIGHT \
                       && intent.epoch < call[c].epoch)
#else
#define IN_DOUBT(c)   (intent.status == INFLIGHT \
                       && intent.epoch < call[c].epoch \
                       && intent.epoch != call[c].about)
#endif

inline write_commit(c)
{
    stale_commit = (row.epoch != call[c].epoch);
    assert(!stale_commit);
#ifdef NO_LATE_COMMIT
    late_commit = (row.holder == NOBODY);
    assert(!late_commit);
#endif

    call[c].stage = OK;
    call[c].own = (call[c].op == RECOVER && IN_FLIGHT(c));

    if
    :: call[c].op == RECOVER && IN_DOUBT(c) ->
        dropped = (!IS_LATE(c) && worker[WHO(c)].hand != EMPTY
                   && worker[WHO(c)].known == intent.epoch);
        assert(!dropped);
#ifdef RESEND_IN_DOUBT
        intent.status = PENDING;
#else
        intent.status = DONE;
#endif
        intent.epoch = 0

    :: call[c].op == BEGIN && intent.status == PENDING ->
        intent.status = INFLIGHT;
        intent.epoch = call[c].epoch

    :: call[c].op == BEGIN && intent.status != PENDING ->
        call[c].stage = NOTHING

    :: call[c].op == GIVE_BACK && IN_FLIGHT(c) ->
        intent.status = PENDING;
        intent.epoch = 0

    :: call[c].op == COMPLETE && IN_FLIGHT(c) ->
        intent.status = DONE;
        intent.epoch = 0

    :: else
    fi;

    unlock(c)
}

inline forget_late(c)
{
    if
    :: IS_LATE(c) && REPLIED(c) -> clear(c)
    :: else
    fi
}

active [CALLS] proctype session()
{
    byte  c = _pid;

    do
    :: d_step {
        call[c].stage == POSTED && row.lock == UNLOCKED ->
        if
        :: CLAIM(c) || call[c].op == RENEW || call[c].op == RELEASE ->
            lease_statement(c)
        :: else ->
            write_begin(c)
        fi;
        printf("sql: %e of %d: %e, row: holder %d epoch %d\n", call[c].op,
               WHO(c), call[c].stage, row.holder, row.epoch);
        forget_late(c);
        settle()
       }

    :: d_step {
        call[c].stage == LOCKED ->
        printf("sql: %e of %d commits\n", call[c].op, WHO(c));
        write_commit(c);
        forget_late(c);
        settle()
       }

    :: d_step {                     /* never executed, or rolled back */
        IS_LATE(c) && !FREE(c) ->
        unlock(c);
        clear(c);
        settle()
       }
    od
}


/*
 * The executor worker: src/core/rule/sm_leader.c, src/leader, src/executor
 */

#define EPOCH       worker[w].epoch
#define ROLE(r)     (worker[w].role == r)
#define EXEC(x)     (worker[w].exec == x)
#define HAND(x)     (worker[w].hand == x)

#if defined(DRAINS_LATE)
#define MAY_SEND    EXECUTES(w)
#else
#define MAY_SEND    LEADS(w)
#endif

#if defined(GATE_ANY_EPOCH)
#define MAY_LEAVE   true
#else
#define MAY_LEAVE   (worker[w].known == EPOCH)
#endif

inline post(c, what)
{
    call[c].op = what;
    call[c].stage = POSTED;
    call[c].epoch = EPOCH;
    printf("%d: %e at epoch %d\n", w, what, EPOCH)
}

/* a write about what is in hand, if anything is */

inline post_about(c, what)
{
    post(c, what);
    call[c].about = worker[w].known
}

inline let_go()
{
    worker[w].hand = EMPTY;
    worker[w].known = 0
}

/* the caller is gone, the statement may be not */

inline abandon(c)
{
    i = LATE;
    do
    :: i < CALLS && !FREE(i) -> i++
    :: else -> break
    od;

    if
    :: i < CALLS && RUNNING(c) ->
        call[i].op = call[c].op;
        call[i].stage = call[c].stage;
        call[i].epoch = call[c].epoch;
        call[i].about = call[c].about;
        call[i].who = w;
        if
        :: row.lock == c -> row.lock = i
        :: else
        fi
    :: else ->
        unlock(c)
    fi;

    clear(c)
}

/* the transition function: what the old role had under way is abandoned */

inline become(what)
{
    abandon(LEASE(w));
    abandon(WRITE(w));

#ifdef FORGETS
    let_go();
#endif

    worker[w].role = what;
    worker[w].late = false;

    if
    :: what == LEADER -> worker[w].exec = REBUILD
    :: else -> worker[w].exec = OFF
    fi;

    if
    :: what == FOLLOWER -> EPOCH = 0
    :: else
    fi;

    zone[ZONE(w)].held = EPOCH;
    printf("%d: %e at epoch %d\n", w, what, EPOCH)
}

#if defined(LATE_CLAIM_LEADS)
#define IN_TIME(c)         true
#else
#define IN_TIME(c)         (!call[c].late)
#endif

/* an epoch that is lost is taken over, if the row still has it */

inline claim_reply(c)
{
    if
    :: call[c].stage == OK && IN_TIME(c) ->
        EPOCH = call[c].epoch;
        become(LEADER)

    :: call[c].stage == OK && !IN_TIME(c) ->
        EPOCH = call[c].epoch;
        become(STARTING)

    :: call[c].stage == REFUSED && call[c].own ->
        EPOCH = call[c].epoch;
        become(GIVING_UP);
        zone[ZONE(w)].held = 0

    :: else ->
        if
        :: call[c].op == ACQUIRE && call[c].epoch == 0 -> let_go()
        :: else
        fi;
        become(FOLLOWER)
    fi
}

/* one that does not lead renews for what it has in hand */

inline renew_reply(c)
{
    if
    :: call[c].stage == OK && ROLE(STARTING) ->
        clear(c)

    :: call[c].stage == OK && !ROLE(STARTING) && IN_TIME(c) ->
        worker[w].late = false;
        clear(c)

    :: call[c].stage == OK && ROLE(LEADER) && !IN_TIME(c) ->
        become(STARTING)

    :: call[c].stage == OK && ROLE(DRAINING) && !IN_TIME(c) ->
        clear(c)

    :: call[c].stage == REFUSED ->
        if
        :: ROLE(DRAINING) -> let_go()
        :: else
        fi;
        become(FOLLOWER)
    fi
}

/*
 * Past its deadline a worker does nothing but to give up, whenever it wakes
 * and whatever wakes it: as good as done. But not in the gate, where it has
 * looked at the deadline already, and not if it drains: then it sends nothing
 * until a renewal has a deadline that has not passed.
 */

#if defined(LATE_RENEW_COUNTS)
#define MAY_BE_RENEWED(w)  (RENEWING(w) && !call[LEASE(w)].late)
#else
#define MAY_BE_RENEWED(w)  (RENEWING(w) && !call[LEASE(w)].late \
                            && ROLE(DRAINING))
#endif

inline mind_deadline()
{
    if
    :: (ROLE(LEADER) && worker[w].late && !EXEC(GATE)
        && !MAY_BE_RENEWED(w)) ->
        become(STARTING)
    :: else
    fi
}

inline write_reply(c)
{
    if
    :: call[c].stage == REFUSED && !ROLE(DRAINING) ->
        become(STARTING)

    :: call[c].stage == REFUSED && ROLE(DRAINING)

    :: call[c].op == RECOVER && call[c].stage == OK ->
        if
        :: !call[c].own -> let_go()     /* another has settled it */
        :: else
        fi;
        worker[w].exec = READY

    :: call[c].op == BEGIN && call[c].stage == OK ->
        worker[w].hand = UNSENT;
        worker[w].known = EPOCH

    :: call[c].op == BEGIN && call[c].stage == NOTHING

    :: call[c].op == COMPLETE || call[c].op == GIVE_BACK ->
        if
        :: call[c].stage == OK -> let_go()
        :: else
        fi
    fi;

    clear(c)
}

/* in calm weather a follower aims at the expiry, and asks for nothing before */

#if defined(OWN_ROW_WAITS)
#define WORTHWHILE  (!calm || row.holder == NOBODY)
#else
#define WORTHWHILE  (!calm || row.holder == NOBODY \
                     || row.holder == HOLDER(w))
#endif

active [INSTANCES] proctype instance()
{
    byte  w = _pid - CALLS;

    do

    /* what it wants */

    :: d_step {
        ROLE(FOLLOWER) && FREE(LEASE(w)) && WORTHWHILE ->
        post(LEASE(w), ACQUIRE);
        settle()
       }

    :: d_step {
        ROLE(STARTING) && FREE(LEASE(w)) ->
        post(LEASE(w), TAKEOVER);
        settle()
       }

    :: d_step {
        LEADS(w) && !EXEC(GATE) && FREE(LEASE(w)) && !calm ->
        post(LEASE(w), RENEW);
        settle()
       }

    :: d_step {                     /* its deadline may have passed */
        ROLE(DRAINING) && worker[w].late && !EXEC(GATE) && FREE(LEASE(w)) ->
        post(LEASE(w), RENEW);
        settle()
       }

    :: d_step {
        ROLE(GIVING_UP) && FREE(LEASE(w)) ->
        post(LEASE(w), RELEASE);
        settle()
       }

    :: d_step {
        REPLIED(LEASE(w)) && !EXEC(GATE) ->
        if
        :: CLAIM(LEASE(w)) -> claim_reply(LEASE(w))
        :: call[LEASE(w)].op == RENEW -> renew_reply(LEASE(w))
        :: call[LEASE(w)].op == RELEASE -> become(FOLLOWER)
        fi;
        settle()
       }

    :: d_step {                     /* for what it has in hand */
        ROLE(STARTING) && HAND(SENT) && FREE(LEASE(w)) && !calm ->
        post(LEASE(w), RENEW);
        settle()
       }

    :: d_step {                     /* quit, or cannot send */
        ROLE(LEADER) && !EXEC(GATE) && !calm ->
#ifdef LEADS_TO_THE_END
        abandon(LEASE(w));
        post(LEASE(w), RELEASE);
#else
        become(GIVING_UP);
#endif
        settle()
       }


#ifdef DRAINS
    :: d_step {                     /* quit: what is in hand may end */
        ROLE(LEADER) && !EXEC(GATE) && !calm ->
        worker[w].role = DRAINING;
        printf("%d: DRAINING at epoch %d\n", w, EPOCH);
        settle()
       }

    :: d_step {
        (ROLE(DRAINING) && HAND(EMPTY) && FREE(WRITE(w)) && FREE(LEASE(w))) ->
        become(GIVING_UP);
        settle()
       }
#endif


    /* the executor */

    :: d_step {
        LEADS(w) && ROLE(LEADER) && EXEC(REBUILD) && FREE(WRITE(w)) ->
        post_about(WRITE(w), RECOVER);
        settle()
       }

    :: d_step {
        (LEADS(w) && ROLE(LEADER) && EXEC(READY) && HAND(EMPTY)
         && FREE(WRITE(w))) ->
        post(WRITE(w), BEGIN);
        settle()
       }

    :: d_step {                     /* not let out, or stopping */
        (HAND(UNSENT) && !EXEC(GATE)
         && (!calm || ROLE(DRAINING) || (LEADS(w) && EXEC(READY)
                                         && worker[w].known != EPOCH))) ->
        worker[w].hand = UNDO;
        settle()
       }

    :: d_step {
        (HAND(UNDO) && FREE(WRITE(w))
         && ((LEADS(w) && EXEC(READY)) || (ROLE(STARTING) && !calm)
             || (ROLE(DRAINING) && !EXEC(GATE) && (!calm || LEADS(w))))) ->
        post_about(WRITE(w), GIVE_BACK);
        settle()
       }

    :: d_step {
        MAY_SEND && EXEC(READY) && HAND(UNSENT) && MAY_LEAVE ->
        printf("%d: the gate opens\n", w);
        not_begun = (intent.status != INFLIGHT || intent.epoch != EPOCH);
#ifndef FENCE_ONLY
        assert(!not_begun);
#endif
        worker[w].exec = GATE;
        settle()
       }

    :: d_step {
        EXEC(GATE) ->
        printf("%d: sends\n", w);
        sent_twice = intent.sent;
        assert(!sent_twice);
#ifdef NO_LATE_SEND
        late_send = (row.holder != HOLDER(w) || row.epoch != EPOCH);
        assert(!late_send);
#endif
        intent.sent = true;
        worker[w].hand = SENT;
        worker[w].exec = READY;
        mind_deadline();
        settle()
       }

    :: d_step {                     /* the gateway has answered */
        (HAND(SENT) && FREE(WRITE(w))
         && ((LEADS(w) && EXEC(READY)) || (ROLE(STARTING) && !calm)
             || (ROLE(DRAINING) && !EXEC(GATE) && (!calm || LEADS(w))))) ->
        post_about(WRITE(w), COMPLETE);
        settle()
       }

    :: d_step {
        REPLIED(WRITE(w)) && !EXEC(GATE) ->
        write_reply(WRITE(w));
        settle()
       }


    /* what happens to it */

    :: d_step {                     /* a call fails, whatever SQL has done */
        !calm && !FREE(LEASE(w)) && !EXEC(GATE) ->
        printf("%d: %e fails\n", w, call[LEASE(w)].op);
        if
        :: ROLE(LEADER) -> become(STARTING)
        :: else -> abandon(LEASE(w))
        fi;
        settle()
       }

    :: d_step {
        !calm && !FREE(WRITE(w)) && !EXEC(GATE) ->
        printf("%d: %e fails\n", w, call[WRITE(w)].op);
#ifdef LEADS_ON
        abandon(WRITE(w));
#else
        if
        :: ROLE(DRAINING) -> abandon(WRITE(w))
        :: else -> become(STARTING)
        fi;
#endif
        settle()
       }

    :: d_step {
        !calm && LEADS(w) ->
        printf("%d: the deadline passes\n", w);
        worker[w].late = true;
        mind_deadline();
        settle()
       }

    :: d_step {                     /* the one that is asked for */
        (!calm && !call[LEASE(w)].late
         && (CLAIM(LEASE(w)) || (worker[w].late && MAY_BE_RENEWED(w)))) ->
        printf("%d: the deadline of %e passes\n", w, call[LEASE(w)].op);
        call[LEASE(w)].late = true;
        mind_deadline();
        settle()
       }

    :: d_step {                     /* a worker crashes, or ends at reload */
        !calm ->
        printf("%d: the worker is gone\n", w);
        let_go();
        EPOCH = zone[ZONE(w)].held;
        if
        :: EPOCH != 0 -> become(STARTING)
        :: else -> become(FOLLOWER)
        fi;
        settle()
       }

#ifndef CALM_NO_EXPIRY
    :: d_step {                     /* with all its instance */
        !calm ->
        printf("%d: the instance is gone\n", w);
        let_go();
        become(FOLLOWER);
        settle()
       }
#endif
    od
}


/*
 * SQL's clock, and the weather
 */

#define COUNTS_ON(w)  (row.holder == HOLDER(w) \
                       && ((LEADS(w) && worker[w].epoch == row.epoch) \
                           || ((CLAIM(LEASE(w)) \
                                || (RENEWING(w) && EXECUTES(w))) \
                               && call[LEASE(w)].stage == OK \
                               && call[LEASE(w)].epoch == row.epoch \
                               && !call[LEASE(w)].late)))

#if INSTANCES == 2
#define EITHER(what)  (what(0) || what(1))
#else
#define EITHER(what)  (what(0) || what(1) || what(2))
#endif

#if defined(CLOCK_JUMPS)
#define MAY_EXPIRE    true
#elif defined(CALM_NO_EXPIRY)
#define MAY_EXPIRE    (!calm && !EITHER(COUNTS_ON))
#else
#define MAY_EXPIRE    (!EITHER(COUNTS_ON))
#endif

active proctype sql_clock()
{
    do
    :: d_step {
        row.holder != NOBODY && MAY_EXPIRE ->
        printf("sql: epoch %d expires\n", row.epoch);
        row.holder = NOBODY;
        settle()
       }
    od
}

#if defined(CALM) || defined(CALM_NO_EXPIRY)

active proctype weather()
{
    calm = true
}

/* one that drains will leave */

#define STAYS(w)    (LEADS(w) && worker[w].role == LEADER)

ltl settles { [] (calm -> <> [] (EITHER(STAYS) && intent.status == DONE)) }

#endif
