// Who leads, how the store is, and what happens: an hour of it.

import { get } from '../api.js';
import { h, card, tile, pill, table, empty, num } from '../dom.js';
import { rate, rough, duration, millis } from '../format.js';
import * as chart from '../chart.js';

export const live = true;

const column = (stats, name) => {
  const at = stats.columns.indexOf(name);
  return stats.rows.map((row) => (at < 0 ? null : row[at]));
};

const perSecond = (values, interval) =>
  values.map((v) => (v == null ? null : v / interval));

export const load = async (ctx) => ({ overview: ctx.overview, stats: await get('stats') });

function lines(stats) {
  const per = (name) => perSecond(column(stats, name), stats.interval);
  const failed = (a, b) => a.map((v, i) => (v == null && b[i] == null ? null : (v || 0) + (b[i] || 0)));

  return {
    at: column(stats, 'at'), interval: stats.interval,
    charts: [
      ['c-flow', 'Intents', 'per second', [
        { label: 'submitted', tone: 'blue', values: per('submitted') },
        { label: 'accepted', tone: 'green', values: per('accepted'), fill: true },
        { label: 'failed', tone: 'red', values: failed(per('rejected'), per('exhausted')) }]],
      ['c-attempts', 'Attempts', 'per second', [
        { label: 'all', tone: 'blue', values: per('attempts'), fill: true },
        { label: 'failed', tone: 'red', values: per('failedAttempts') }]],
      ['c-depth', 'Depth', 'intents', [
        { label: 'due', tone: 'amber', values: column(stats, 'due'), fill: true },
        { label: 'waiting', tone: 'blue', values: column(stats, 'waiting') },
        { label: 'in flight', tone: 'green', values: column(stats, 'inFlight') }], null, chart.WHOLE],
      ['c-age', 'Oldest due', 'seconds', [
        { label: 'age', tone: 'amber', values: column(stats, 'oldestDueSeconds'), fill: true }], duration, chart.TIMES]
    ]
  };
}

function lease(o, ctx) {
  const of = ctx.config.lease.durationMs;
  const left = o.leader?.leaseRemainingMs;

  return card('Leader', o.leader
    ? [h('p', { class: 'big' }, h('bdi', { class: 'id' }, o.leader.holder)),
       h('p', null, `Epoch ${o.leader.epoch}. `, left != null && `Lease: ${millis(left)} of ${millis(of)} left.`),
       left != null && h('progress', { max: of, value: Math.min(left, of), 'aria-label': 'Time left of the lease' })]
    : empty('Nobody leads', 'Another instance takes the lease when it has expired.'));
}

function store(o) {
  return card('Store', h('p', { class: 'big' }, o.store.kind, ' ', pill(o.store.up ? 'up' : 'down')),
    h('p', null, 'Breaker ', pill(o.store.breaker)));
}

const instances = (o) => card('Instances', table('Instances',
  [['Instance'], ['Role'], ['Heartbeat', 'num'], ['Version', 'num']],
  o.instances.map((i) => ({ key: i.id, cells: [
    h('bdi', { class: 'id' }, i.id), pill(i.role),
    i.heartbeatAgeMs == null ? '–' : `${millis(i.heartbeatAgeMs)} ago`, i.version || '–'] })),
  empty('No instance has an executor', 'Nothing is sent until one has.')));

const OUTCOMES = [['accepted', 'Accepted', 'good', '#/intents?status=accepted'], ['rejected', 'Rejected', 'bad', '#/failures'],
  ['error', 'Failed', 'bad', '#/failures'], ['unknown', 'Unknown', 'warn', '#/targets']];

// nothing at first: the leader has not told anything yet

function totals(told) {
  const t = told || {};
  const by = t.attemptsPerSecond || {};

  return h('dl', { class: 'tiles' },
    tile('Taken', rate(t.submittedPerSecond), 'intents', '', '#/intents'),
    OUTCOMES.map(([name, label, tone, href]) =>
      tile(label, rate(by[name]), name === 'unknown' ? 'in doubt' : 'attempts', by[name] ? tone : '', href)),
    tile('Due', num(t.due), 'to be sent now', '', '#/targets'),
    tile('Waiting', num(t.waiting), 'for their time', '', '#/targets'),
    tile('In flight', num(t.inFlight), 'at gateways', '', '#/targets'),
    tile('Oldest due', rough(t.oldestDueSeconds), 'past its time', t.oldestDueSeconds > 60 ? 'warn' : '', '#/targets'));
}

export function view(data, ctx) {
  const o = data.overview;
  const l = data.stats.rows.length ? lines(data.stats) : null;

  return [
    h('h1', null, 'Overview'),
    totals(o.totals),
    h('div', { class: 'grid' }, lease(o, ctx), instances(o), store(o)),
    card('The last hour', l
      ? h('div', { class: 'charts' }, l.charts.map(([id, title, unit, series, how]) =>
        chart.place(id, title, unit, series, l, how)))
      : empty('Nothing to draw yet', 'The leader reports every five seconds; the charts begin then.'))
  ];
}

export function after(data) {
  if (data?.stats.rows.length) {
    const l = lines(data.stats);
    for (const [id, , , series, ...axis] of l.charts) {
      chart.plot(id, series, l, ...axis);
    }
  }
}

export const repaint = chart.repaint;
