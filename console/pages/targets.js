// Each target: how it does, and the switch that stops it.

import { get, post, seg, query } from '../api.js';
import { h, card, pill, table, empty, button, link, num, time, word } from '../dom.js';
import { count, rate, percent, perTime, rough, millis, DASH } from '../format.js';
import { dialog, attempt, more } from '../act.js';
import { condition, illness, illnessPill, illnessRank, illSince, illWhy, isHeld, isNew } from '../words.js';
import { series } from '../series.js';
import { spark } from '../chart.js';
import { submit } from '../forms.js';
import { job } from './jobs.js';

export const live = true;

const EVERY = 15000;        // ms, of the small lines
const MOST = 40;            // of them
const SPAN = 900;           // seconds, of a line
const TOGETHER = 20;        // seconds, of a point in it
const HEARD = 20000;        // ms, until the leader has told of a pause

const drawn = new Map();    // target -> {at, line}
const wanted = new Map();   // target -> {paused, until}, what the leader has yet to hear

export async function load(ctx) {
  const all = ctx.targets || await get('targets');

  await Promise.all(all.targets.slice(0, MOST).map((t) => line(t.target)));
  return all;
}

async function line(target) {
  const old = drawn.get(target);

  if (old && Date.now() - old.at < EVERY) {
    return;
  }
  try {
    const s = series(await get(`stats${query({ window: SPAN, target })}`), TOGETHER);
    drawn.set(target, { at: Date.now(), line: { at: s.at, values: s.rate('attempts') } });
  } catch {
    drawn.set(target, { at: Date.now() });
  }
}

function pause(t, ctx) {
  const reason = h('input', { id: 'reason', maxlength: 200, autofocus: true, placeholder: 'such as: gateway is being repaired' });

  dialog(`Pause ${t.target}?`, [
    h('p', null, 'No attempt of this target begins until it is resumed, on any instance. ',
      'What is at the gateway may end. Intents are still accepted, and nothing is lost; deadlines go on.'),
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

const trouble = (t, ctx) => t.lastError && h('p', { class: 'note clip', title: t.lastError.detail || '' },
  'Last error ', time(t.lastError.at, ctx.now), ': ', word(t.lastError.detail || t.lastError.reason));

// "open" is a good word for a target, and a bad one for its circuit

function state(t, ctx) {
  const words = condition(t);
  const since = illness(t).length > 0 && illSince(t);

  return [coming(t) ? pill('running', `${coming(t)}…`) : words.map((one) => [illnessPill(one), ' ']),
    words.includes('unknown') && h('p', { class: 'note' }, 'The leader has not told how it is.'),
    since && h('p', { class: 'note' }, 'since ', time(since, ctx.now)),
    h('div', { class: 'note' }, illWhy(t, ctx.now)), trouble(t, ctx)];
}

const toggle = (t, ctx) => (t.state === 'paused'
  ? button('Resume', () => resume(t, ctx), { class: 'primary small', disabled: Boolean(coming(t)), 'aria-label': `Resume ${t.target}` })
  : button('Pause…', () => pause(t, ctx), { class: 'small', disabled: Boolean(coming(t)), 'aria-label': `Pause ${t.target}` }));

const actions = (t, ctx) => h('div', { class: 'acts' }, toggle(t, ctx), more(t.target, [
  ['List its intents', () => { location.hash = `#/intents${query({ target: t.target })}`; }],
  ['List its failures', () => { location.hash = `#/failures${query({ target: t.target })}`; }],
  ['Submit a test intent…', () => submit(ctx, t.target)],
  ['Cancel what is pending…', () => job('cancel', { target: t.target, status: 'pending' }, ctx), 'danger']]));

const worst = (list) => [...list].sort((a, b) => illnessRank(a) - illnessRank(b));

const shade = (t) => (illness(t).length ? `off ${illnessRank(t) < 2 ? 'worst' : ''}` : '');

// of the last minute, and below it of the last five

const pair = (how) => [how('1m'), h('div', { class: 'note five' }, `5 min: ${how('5m')}`)];

function row(t, ctx) {
  const { line: seen } = drawn.get(t.target) || {};
  const early = isNew(ctx.overview);

  return { key: t.target, class: shade(t), cells: [
    [h('div', null, link(`#/intents${query({ target: t.target })}`, word(t.target), 'strong')),
     h('div', { class: 'note id' }, t.gatewayType, ' ', word(t.gatewayUrl || ''))],
    state(t, ctx),
    [num(t.due), isHeld(t) && t.due > 0 && h('div', { class: 'note' }, 'held back'), t.oldestDueSeconds > 1 && h('div', { class: 'note' }, `for ${rough(t.oldestDueSeconds)}`)],
    num(t.waiting),
    [count(t.inFlight), t.concurrency ? h('span', { class: 'note' }, ` of ${count(t.concurrency)}`) : ''],
    [early ? DASH : rate(t.perSecond?.['1m']), t.rate && h('span', { class: 'note' }, ` of ${perTime(t.rate)}`)],
    pair((span) => percent(t.successRatio?.[span])),
    pair((span) => `${millis(t.p50Ms?.[span])} / ${millis(t.p99Ms?.[span])}`),
    seen?.at.length > 1 ? spark(seen, `Attempts of ${t.target} in 15 minutes`, SPAN, ctx.now / 1000) : '',
    ...(ctx.may ? [actions(t, ctx)] : [])
  ] };
}

// messages are sent as intents are, each webhook by a target of its own

const hooks = (list, ctx) => list?.length > 0 && card('Webhooks', table('Webhooks',
  [['Webhook', 'name'], ['State', 'why'], ['Due', 'num'], ['Waiting', 'num'], ['Success, 5 min', 'num'], ...(ctx.may ? [['']] : [])],
  worst(list).map((t) => ({ key: t.target, class: shade(t), cells: [
    [word(t.target, 'strong'), h('div', { class: 'note id' }, word(t.gatewayUrl || ''))],
    state(t, ctx), num(t.due), num(t.waiting), percent(t.successRatio?.['5m']),
    ...(ctx.may ? [h('div', { class: 'acts' }, toggle(t, ctx))] : [])] }))));

// the address may name one of them

export function view(all, ctx) {
  const one = ctx.params.get('target');
  const only = (list) => (one ? list?.filter((t) => t.target === one) : list);
  const data = { targets: only(all.targets), webhooks: only(all.webhooks) };

  return [
    h('h1', null, 'Targets'),
    one && h('p', { class: 'note' }, 'Only ', h('bdi', null, one), ' is shown. ', link('#/targets', 'All targets')),
    !(one && data.webhooks?.length) && card(null, table('Targets',
      [['Target', 'name'], ['State', 'why'], ['Due', 'num'], ['Waiting', 'num'], ['In flight', 'num'], ['Sent, 1 min', 'num'],
       ['Success', 'num'], ['p50 / p99', 'num'], ['15 min', 'line spare'], ...(ctx.may ? [['']] : [])],
      worst(data.targets).map((t) => row(t, ctx)),
      one ? empty('There is no such target') : empty('No target is configured'))),
    hooks(data.webhooks, ctx),
    !ctx.may && h('p', { class: 'note' }, 'To pause a target, use a console with access=operate.')
  ];
}
