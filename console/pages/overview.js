// What is ill, who leads, how the store is, and what happens: up to an hour of it.

import { get } from '../api.js';
import { h, card, tile, pill, table, empty, link, num, time, tone } from '../dom.js';
import { clock, count, rate, rough, duration, millis, DASH } from '../format.js';
import { illness, illnessPill, illnessRank, illnessSays, illSince, illWhy, isHeld, isNew, isTold, storeState } from '../words.js';
import { series } from '../series.js';
import * as chart from '../chart.js';

export const live = true;

const HOUR = 3500;          // seconds: that is an hour
const MARKS = 6;            // events that are listed below the charts
const WORST = 4;            // targets that are ill and told in full
const SILENT = 60000;       // ms without a heartbeat

export async function load(ctx) {
  const [stats, { events }] = await Promise.all([get('stats'), get('events?limit=100')]);
  return { overview: ctx.overview, targets: ctx.targets, stats, events };
}

function lines({ stats, events }) {
  const s = series(stats);
  const { at } = s;
  const failed = (a, b) => a.map((v, i) => (v == null && b[i] == null ? null : (v || 0) + (b[i] || 0)));
  const marks = events.map((e) => ({ ...e, second: Date.parse(e.at) / 1000 }))
    .filter((e) => e.second >= at[0]);

  return {
    at, seconds: s.seconds, interval: s.interval, marks,
    charts: [
      ['c-flow', 'Intents', 'per second', [
        { label: 'submitted', tone: 'blue', values: s.rate('submitted') },
        { label: 'accepted', tone: 'green', values: s.rate('accepted'), fill: true },
        { label: 'failed', tone: 'red', values: failed(s.rate('rejected'), s.rate('exhausted')) }]],
      ['c-attempts', 'Attempts', 'per second', [
        { label: 'all', tone: 'blue', values: s.rate('attempts'), fill: true },
        { label: 'failed', tone: 'red', values: s.rate('failedAttempts') }]],
      ['c-depth', 'Queue', 'intents', [
        { label: 'due', tone: 'amber', values: s.level('due'), fill: true },
        { label: 'waiting', tone: 'blue', values: s.level('waiting') },
        { label: 'in flight', tone: 'green', values: s.level('inFlight') }], null, chart.WHOLE],
      ['c-age', 'Oldest due', 'seconds', [
        { label: 'age', tone: 'amber', values: s.level('oldestDueSeconds'), fill: true }], duration, chart.TIMES]
    ]
  };
}

// a webhook has messages, and neither intents nor failures

const hook = (t) => /^webhook (.*)/.exec(t.target)?.[1];

// the worst first, and one line for all others

function sick(t, ctx) {
  const since = illSince(t);

  return h('li', { 'data-key': t.target, class: tone(illness(t)[0]) },
    h('div', { class: 'row' }, link(`#/targets?target=${encodeURIComponent(t.target)}`, h('bdi', { class: 'id' }, t.target), 'strong'), illness(t).map(illnessPill),
      since && h('span', { class: 'note' }, 'since ', time(since, ctx.now, clock(since)), ', ', time(since, ctx.now))),
    illWhy(t, ctx.now),
    t.lastError && h('p', null, 'Last error ', time(t.lastError.at, ctx.now), ': ', h('bdi', null, t.lastError.detail || t.lastError.reason)),
    h('p', { class: 'note' }, `${count(t.due)} ${isHeld(t) ? 'held back' : 'due'}, ${count(t.waiting)} waiting. `,
      hook(t) ? link(`#/webhooks?webhook=${encodeURIComponent(hook(t))}`, 'Messages')
        : [link(`#/intents?target=${encodeURIComponent(t.target)}`, 'Intents'), ' · ',
          link(`#/failures?target=${encodeURIComponent(t.target)}`, 'Failures')]));
}

function health(all, o, ctx) {
  const sure = isTold(o) && !o.leader.silent;

  if (!all || (!sure && !all.asOf)) {
    return card('Targets', empty('How the targets are is not known', 'Whoever leads tells it, and this instance has not heard it yet.'));
  }

  const list = [...all.targets, ...all.webhooks || []];
  const ill = list.filter((t) => illness(t).length).sort((a, b) => illnessRank(a) - illnessRank(b));
  const unknown = list.filter((t) => !t.health && !illness(t).length).length;
  const well = list.length - ill.length - unknown;
  const healthy = says(ill.length, well, unknown);

  if (!sure && !ill.length) {
    return h('p', { class: 'note' }, `No target was ill at ${clock(all.asOf)}; nobody has reported since.`);
  }
  return ill.length === 0 ? h('p', { class: unknown ? 'note' : 'well' }, list.length && !unknown ? [h('span', { 'aria-hidden': 'true' }, '✓ '), healthy] : healthy)
    : h('section', { class: `card ill ${tone(illness(ill[0])[0])}` }, h('h2', null, `${ill.length === 1 ? 'One target needs' : `${count(ill.length)} targets need`} attention`),
        h('ul', null, ill.slice(0, WORST).map((t) => sick(t, ctx))),
        ill.length > WORST && h('p', null, link('#/targets', `And ${count(ill.length - WORST)} more`), ': ',
          ill.slice(WORST).map((t, i) => [i ? ', ' : '', h('bdi', null, t.target), ` ${illnessSays(t)}`]), '.'),
        well + unknown > 0 && sure && h('p', { class: 'note' }, link('#/targets', healthy)));
}

// nobody is called healthy of whom the leader has not told

function says(ill, well, unknown) {
  const not = unknown && `The leader has not told yet how ${unknown === 1 ? 'one' : count(unknown)} of them ${unknown === 1 ? 'is' : 'are'}.`;

  if (!ill && !well) {
    return unknown ? `No target is known to be ill. ${not}` : 'No target is configured.';
  }
  return [well > 0 && `${ill || unknown ? count(well) : well === 1 ? 'The only one' : `All ${count(well)}`} ${well === 1 ? 'target is' : 'targets are'} healthy.`,
    not].filter(Boolean).join(' ');
}

// how it came to lead: the others are told what the leader has seen

const epoch = (e) => e.epoch ?? Number(/\(epoch (\d+)\)/.exec(e.text)?.[1]);

function came({ holder, epoch: of }, events) {
  const e = events.find((one) => one.kind === 'leader_acquired' && one.instance === holder && epoch(one) === of);
  const text = e?.text.replace(` (epoch ${of})`, '');

  return !text || text === `${holder} became the leader.` ? '' : text.startsWith(`${holder} `) ? `It${text.slice(holder.length)}` : text;
}

function lease(o, events, ctx) {
  const of = ctx.config.lease.durationMs;
  const left = o.leader?.leaseRemainingMs;
  const last = o.lastLeader || ctx.led;

  if (o.leader && storeState(o) === 'up') {
    const how = came(o.leader, events);

    return card('Leader', h('p', { class: 'big' }, h('bdi', { class: 'id' }, o.leader.holder),
      o.leader.since && h('span', { class: 'note' }, ' since ', time(o.leader.since, ctx.now, clock(o.leader.since)),
        ', ', time(o.leader.since, ctx.now))),
      how && h('p', null, h('bdi', null, how)),
      h('p', null, `Epoch ${o.leader.epoch}. `, left != null && `Lease: ${millis(left)} of ${millis(of)} left.`),
      left != null && h('progress', { max: of, value: Math.min(left, of), 'aria-label': 'Time left of the lease' }));
  }
  return card('Leader', empty('Nobody is known to lead', last?.holder
    ? [h('bdi', { class: 'id' }, last.holder), ` led last${last.until ? `, until ${clock(last.until)}` : ''}.`] : '',
    storeState(o) === 'up' ? 'Another instance takes the lease when it has expired.' : 'Nobody can lead while the store is down.'));
}

function store(o, ctx) {
  const s = o.store;

  return card('Store', h('p', { class: 'big' }, s.kind, ' ', pill(storeState(o)),
    s.since && h('span', { class: 'note' }, ' since ', time(s.since, ctx.now, clock(s.since)))),
    s.breaker && s.breaker !== 'closed' && h('p', null, 'Requests are refused at once, because it kept failing.'),
    s.lastError ? h('p', null, 'Last error', s.lastErrorAt && [' ', time(s.lastErrorAt, ctx.now)], ': ', h('bdi', null, s.lastError))
      : h('p', { class: 'note' }, storeState(o) === 'up' ? 'It answers.' : ''));
}

// what an instance was is not what it is, if nobody has heard of it since

const role = (i, o) => (storeState(o) === 'up' && i.silent
  ? [pill('down', i.role ? `${i.role}, silent` : 'not heard of'), !i.role && h('span', { class: 'note' }, ` since ${clock(Date.parse(o.now) - i.heartbeatAgeMs)}`)]
  : storeState(o) === 'up' && o.leader ? pill(i.role)
  : pill('quiet', i.role === 'leader' ? 'led last' : i.role));

const instances = (o) => card('Instances', table('Instances',
  [['Instance'], ['Role'], ['Last seen', 'num'], ['Version', 'num']],
  o.instances.map((i) => ({ key: i.id, class: i.heartbeatAgeMs > SILENT ? 'off' : '', cells: [
    h('bdi', { class: 'id' }, i.id), role(i, o),
    i.heartbeatAgeMs == null ? '–' : `${millis(i.heartbeatAgeMs)} ago`, i.version || '–'] })),
  storeState(o) === 'up' ? empty('No instance has an executor', 'Nothing is sent until one has.')
    : empty('Who else is there is not known', 'The store knows, and it is down.')));

const OUTCOMES = [['accepted', 'Accepted', 'good', '#/intents?status=accepted'], ['rejected', 'Rejected', 'bad', '#/failures'],
  ['error', 'Failed', 'bad', '#/failures'], ['unknown', 'Unknown', 'warn', '#/targets']];

// nothing at first: the leader has not told anything yet

function totals(o, all, ctx) {
  const t = o.totals || {};
  const by = t.attemptsPerSecond || {};
  const told = isTold(o);
  const early = isNew(o);
  const per = (n) => (early ? DASH : rate(n));
  const held = [...all?.targets || [], ...all?.webhooks || []].filter(isHeld).reduce((sum, one) => sum + (one.due || 0), 0);

  const how = !told && o.asOf ? ['As of ', time(o.asOf, ctx.now, clock(o.asOf)), ', ', time(o.asOf, ctx.now), ': nobody has reported since.']
    : told && early && 'A new leader counts anew: it has no rates before five seconds.';

  return [how && h('p', { class: 'note old' }, how), h('dl', { class: `tiles ${told ? '' : 'stale'}` },
    tile('Submitted', per(t.submittedPerSecond), 'intents', '', '#/intents'),
    OUTCOMES.map(([name, label, cls, href]) =>
      tile(label, per(by[name]), name === 'unknown' ? 'in doubt' : 'attempts', told && !early && by[name] ? cls : '', href)),
    tile('Due', num(t.due), !held ? 'to be sent now' : held >= t.due ? 'held back' : `${count(held)} held back`, '', '#/targets'),
    tile('Waiting', num(t.waiting), 'for their time', '', '#/targets'),
    tile('In flight', num(t.inFlight), 'at gateways', '', '#/targets'),
    tile('Oldest due', rough(t.oldestDueSeconds), 'past its time', told && t.oldestDueSeconds > 60 ? 'warn' : '', '#/targets'))];
}

// what there is, and not an hour of which most is missing

function span(l) {
  const seconds = l.at[l.at.length - 1] - l.at[0];
  return seconds >= HOUR ? 'The last hour' : `The last ${rough(Math.max(seconds, l.interval)).replace(/^1 min$/, 'minute')}`;
}

// The gravest first: what is wrong, then what is right again and who leads, then all
// else; of each thing its newest event before an older one.  The newest is at the top.

const GRAVE = /^(target|store|leader|circuit|instance)_/;

function ranked(events) {
  const seen = new Set();

  return events.map((e, place) => {
    const thing = `${e.kind.split('_')[0]} ${e.target || e.instance}`;
    const again = seen.has(thing);

    seen.add(thing);
    return { e, place, rank: (tone(e.level) !== 'quiet' ? 0 : GRAVE.test(e.kind) ? 1 : 4) + (again ? 2 : 0) };
  }).sort((a, b) => a.rank - b.rank || a.place - b.place).slice(0, MARKS).sort((a, b) => a.place - b.place).map(({ e }) => e);
}

const marks = (l, ctx) => l.marks.length > 0 && h('div', { class: 'marks' },
  h('h3', null, 'What happened in this time ', link('#/events', l.marks.length > MARKS ? `All ${count(l.marks.length)} events` : 'All events', 'note')),
  h('ul', null, ranked(l.marks).map((e) => h('li', { 'data-key': e.id },
    h('span', { class: `mark ${tone(e.level)}`, 'aria-hidden': 'true' }), time(e.at, ctx.now, clock(e.at)), ' ', h('bdi', null, e.text)))));

export function view(data, ctx) {
  const o = data.overview;
  const l = data.stats.rows.length ? lines(data) : null;

  return [
    h('h1', null, 'Overview'),
    health(data.targets, o, ctx),
    totals(o, data.targets, ctx),
    h('div', { class: 'grid' }, lease(o, data.events, ctx), instances(o), store(o, ctx)),
    card(l ? span(l) : 'The last hour', l
      ? [h('div', { class: 'charts' }, l.charts.map(([id, title, unit, series, how]) =>
          chart.place(id, title, unit, series, l, how))), marks(l, ctx)]
      : empty('Nothing to draw yet', storeState(o) === 'up' ? 'The leader reports every five seconds; the charts begin then.'
        : 'The charts begin when the store is back and an instance leads.'))
  ];
}

export function after(data) {
  if (data?.stats.rows.length) {
    const l = lines(data);
    for (const [id, , , series, ...axis] of l.charts) {
      chart.plot(id, series, l, ...axis);
    }
  }
}

export const repaint = chart.repaint;
