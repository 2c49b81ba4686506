// Each target: how it does, and the switch that stops it.

import { get, post, seg, query } from '../api.js';
import { h, card, pill, table, empty, button, link, num } from '../dom.js';
import { count, rate, percent, rough, millis, ago, moment } from '../format.js';
import { dialog, attempt } from '../act.js';
import { spark } from '../chart.js';
import { job } from './failures.js';

export const live = true;

const EVERY = 15000;        // ms, of the small lines
const MOST = 40;            // of them
const TOGETHER = 4;         // rows in one point of a line
const HEARD = 20000;        // ms, until the leader has told of a pause

const drawn = new Map();    // target -> {at, values}
const wanted = new Map();   // target -> {paused, until}, what the leader has yet to hear

export async function load(ctx) {
  await Promise.all(ctx.targets.targets.slice(0, MOST).map((t) => line(t.target)));
  return ctx.targets;
}

async function line(target) {
  const old = drawn.get(target);

  if (old && Date.now() - old.at < EVERY) {
    return;
  }
  try {
    const stats = await get(`stats${query({ window: 900, target })}`);
    const at = stats.columns.indexOf('attempts');
    const values = [];
    for (let end = stats.rows.length; end >= TOGETHER; end -= TOGETHER) {
      values.unshift(stats.rows.slice(end - TOGETHER, end).reduce((sum, row) => sum + (row[at] || 0), 0));
    }
    drawn.set(target, { at: Date.now(), values });
  } catch {
    drawn.set(target, { at: Date.now(), values: [] });
  }
}

function pause(t, ctx) {
  const reason = h('input', { id: 'reason', maxlength: 200, autofocus: true, placeholder: 'such as: gateway is being repaired' });

  dialog(`Pause ${t.target}?`, [
    h('p', null, 'No attempt of this target begins until it is resumed, on any instance. ',
      'What is at the gateway may end. Intents are still taken, and nothing is lost; a deadline goes on.'),
    h('label', { for: 'reason' }, 'Reason, for the audit and for others'), reason
  ], { text: 'Pause', tone: 'danger', run: async () => {
    await post(`targets/${seg(t.target)}/pause`, reason.value ? { reason: reason.value } : {});
    want(t, true, ctx);
  } });
}

async function resume(t, ctx) {
  if (await attempt(post(`targets/${seg(t.target)}/resume`), `${t.target} is resumed`)) {
    want(t, false, ctx);
  }
}

function want(t, paused, ctx) {
  wanted.set(t.target, { paused, until: Date.now() + HEARD });
  ctx.draw();
}

function coming(t) {
  const w = wanted.get(t.target);
  return w && w.paused !== (t.state === 'paused') && Date.now() < w.until ? w.paused ? 'pausing' : 'resuming' : '';
}

// "open" is a good word for a target, and a bad one for its circuit

const state = (t) => (coming(t) ? pill('running', `${coming(t)}…`) : pill(t.state, t.state === 'open' ? 'active' : ''));

const toggle = (t, ctx) => (t.state === 'paused'
  ? button('Resume', () => resume(t, ctx), { class: 'primary small', disabled: Boolean(coming(t)), 'aria-label': `Resume ${t.target}` })
  : button('Pause…', () => pause(t, ctx), { class: 'small', disabled: Boolean(coming(t)), 'aria-label': `Pause ${t.target}` }));

function actions(t, ctx) {
  return h('div', { class: 'row' },
    toggle(t, ctx),
    button('Cancel pending…', () => job('cancel', { target: t.target, status: 'pending' }, ctx),
           { class: 'small quiet', 'aria-label': `Cancel what is pending of ${t.target}` }));
}

function why(t, ctx) {
  if (t.pause) {
    return h('p', { class: 'note' }, t.pause.actor && ['by ', h('bdi', null, t.pause.actor), ', '],
      ago(t.pause.at, ctx.now), t.pause.reason && [': ', h('bdi', null, `“${t.pause.reason}”`)]);
  }
  return t.circuit?.openUntil && t.state === 'circuit_open'
    && h('p', { class: 'note' }, `after ${count(t.circuit.failures)} errors in a row; next try ${ago(t.circuit.openUntil, ctx.now)}`);
}

// of the last minute, and below it of the last five

const pair = (how) => [how('1m'), h('div', { class: 'note' }, `5 min: ${how('5m')}`)];

function row(t, ctx) {
  const values = drawn.get(t.target)?.values || [];

  return { key: t.target, class: t.state === 'open' ? '' : 'off', cells: [
    [h('div', null, link(`#/intents${query({ target: t.target })}`, h('bdi', { class: 'id' }, t.target), 'strong')),
     h('div', { class: 'note id' }, t.gatewayType, ' ', t.gatewayUrl)],
    [state(t), why(t, ctx)],
    [num(t.due), t.oldestDueSeconds > 1 && h('div', { class: 'note' }, `for ${rough(t.oldestDueSeconds)}`)],
    num(t.waiting),
    [count(t.inFlight), t.concurrency ? h('span', { class: 'note' }, ` of ${count(t.concurrency)}`) : ''],
    [rate(t.perSecond?.['1m']), t.rate && h('span', { class: 'note' }, ` of ${t.rate.replace('r/s', '/s').replace('r/m', '/min')}`)],
    pair((span) => percent(t.successRatio?.[span])),
    pair((span) => `${millis(t.p50Ms?.[span])} / ${millis(t.p99Ms?.[span])}`),
    t.lastError ? [h('div', { class: 'clip', title: t.lastError.detail || '' }, h('bdi', null, t.lastError.detail || t.lastError.reason)),
                   h('div', { class: 'note', title: moment(t.lastError.at) }, ago(t.lastError.at, ctx.now))] : '–',
    values.length > 1 ? spark(values, `Attempts of ${t.target} in 15 minutes`) : '',
    ...(ctx.may ? [actions(t, ctx)] : [])
  ] };
}

// events are sent as intents are, each webhook by a target of its own

const hooks = (list, ctx) => list?.length > 0 && card('Webhooks', table('Webhooks',
  [['Webhook', 'name'], ['State'], ['Due', 'num'], ['Waiting', 'num'], ['Success, 5 min', 'num'], ['Last error', 'why'], ...(ctx.may ? [['']] : [])],
  list.map((t) => ({ key: t.target, class: t.state === 'open' ? '' : 'off', cells: [
    [h('bdi', { class: 'id strong' }, t.target), h('div', { class: 'note id' }, t.gatewayUrl)],
    [state(t), why(t, ctx)], num(t.due), num(t.waiting), percent(t.successRatio?.['5m']),
    t.lastError ? h('bdi', null, t.lastError.detail || t.lastError.reason) : '–',
    ...(ctx.may ? [toggle(t, ctx)] : [])] }))));

export function view(data, ctx) {
  return [
    h('h1', null, 'Targets'),
    card(null, table('Targets',
      [['Target', 'name'], ['State'], ['Due', 'num'], ['Waiting', 'num'], ['In flight', 'num'], ['Sent, 1 min', 'num'],
       ['Success', 'num'], ['p50 / p99', 'num'], ['Last error', 'why'], ['15 min', 'line'], ...(ctx.may ? [['']] : [])],
      data.targets.map((t) => row(t, ctx)),
      empty('No target is configured'))),
    hooks(data.webhooks, ctx),
    !ctx.may && h('p', { class: 'note' }, 'To pause a target, use a console with access=operate.')
  ];
}
