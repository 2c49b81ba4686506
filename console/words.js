// States in words: what is wrong with a target, and with the store.

import { h, pill } from './dom.js';
import { ago, clock, count, duration, perTime } from './format.js';

// those that intents are sent to, for a list to choose from

export const targetNames = (ctx) => ctx.config.targets.filter((t) => t.gatewayType !== 'webhook')
  .map((t) => [t.target, t.target]).sort();

// the worst first

const ILL = ['down', 'circuit_open', 'degraded', 'paused'];

const SAYS = {
  down: 'is down', circuit_open: 'is left alone, because its circuit is open', degraded: 'is degraded',
  paused: 'is paused'
};

// what a target has, the worst first; nothing: it is healthy

export const illness = (t) => ILL.filter((word) => t.state === word || t.health?.state === word);

export const illnessRank = (t) => {
  const [word] = illness(t);
  return word ? ILL.indexOf(word) : ILL.length;
};

// the same, or that it does well, which nobody knows of one whom the leader has not told of

export const condition = (t) => {
  const words = illness(t);
  return words.length ? words : [t.health ? 'open' : 'unknown'];
};

export const illnessPill = (word) => pill(word, word === 'open' ? 'active' : '');

// that it is paused, too, or somebody else is called for what one knows of

export function illnessSays(t) {
  const words = illness(t);
  return SAYS[words[0]] + (words.length > 1 && words.includes('paused') ? ', and is paused' : '');
}

export const illSince = (t) => (t.health && t.health.state !== 'ok' && t.health.since) || t.since || null;

// the words of an instance, as a sentence

const full = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);

export const sentence = (text) => full(text[0].toUpperCase() + text.slice(1));

const quoted = (text) => h('bdi', null, `“${text}”`);

// why it is ill, as sentences

export function illWhy(t, now) {
  const list = [];

  if (t.pause) {
    list.push(h('p', null, 'Paused', t.pause.actor && [' by ', h('bdi', null, t.pause.actor)], ' ', ago(t.pause.at, now),
      t.pause.reason && [': ', quoted(t.pause.reason)], '.'));
  }
  if (t.health?.why && t.health.state !== 'ok') {
    list.push(h('p', null, h('bdi', null, sentence(t.health.why))));
  }
  if (t.state === 'circuit_open') {
    list.push(h('p', null, t.circuit?.failures ? `After ${t.circuit.failures} errors in a row` : 'After too many errors',
      ' nothing is sent for a while', t.circuit?.openUntil ? `; the next try is ${Date.parse(t.circuit.openUntil) > now + 1000
        ? ago(t.circuit.openUntil, now) : 'due'}.` : '.'));
  }
  return list;
}

// what keeps the intents of a target from being sent, whatever its health

const HELD = ['paused', 'circuit_open'];

export const isHeld = (t) => HELD.includes(t.state);

// as sentences: why a pending intent of this target is not at its gateway yet

export function heldBy(t, o, now) {
  const list = [];

  if (storeState(o) !== 'up') {
    list.push(h('p', null, 'The store does not do its work: nothing is sent.'));
  } else if (o && !o.leader) {
    list.push(h('p', null, 'Nobody leads: nothing is sent until an instance does.'));
  }
  if (!t) {
    return list;
  }
  if (isHeld(t)) {
    list.push(h('p', null, h('bdi', null, t.target), ' ', SAYS[t.state], '.'), illWhy(t, now));
  } else {
    if (t.health && t.health.state !== 'ok') {
      list.push(h('p', null, h('bdi', null, t.target), ' ', SAYS[t.health.state], '.'), illWhy(t, now));
    }
    if (t.concurrency && t.inFlight >= t.concurrency) {
      list.push(h('p', null, `${count(t.inFlight)} attempts are at its gateway: no more are allowed at a time.`));
    }
    if (t.rate && t.due > 1) {
      list.push(h('p', null, `Its target sends ${perTime(t.rate)} at most, and ${count(t.due)} intents are due.`));
    }
  }
  return list;
}

// whether somebody leads and has told how things are; if not, what there is is old

const OLD = 15;             // seconds

export const isTold = (o) => storeState(o) === 'up' && Boolean(o.leader) && !(o.statsAgeSeconds > OLD);

// The windows of a new leader begin anew: what is counted in a second or two is no rate.

const SHORT = 5000;         // ms

export const isNew = (o) => Boolean(o?.leader?.since && o.asOf) && Date.parse(o.asOf) - Date.parse(o.leader.since) < SHORT;

// the store: "up" is all that older instances say

export const storeState = (o) => o?.store.state || (o?.store.up ? 'up' : 'down');

const when = (at, now) => (at ? ` since ${clock(at)} (${ago(at, now)})` : '');

// who led last: an object of its own, or what this page has seen

export function ledWords(o, seen) {
  const last = o.lastLeader || (o.leader ? null : seen);

  return last?.holder ? [h('bdi', null, last.holder), ` led until ${last.until ? clock(last.until) : 'then'}. `] : '';
}

export function storeWords(o, now, seen) {
  const failing = storeState(o) === 'failing';
  const { kind, since, lastError } = o.store;

  return [h('strong', null, failing ? `The store (${kind}) fails` : `The store (${kind}) is down`, when(since, now), '. '),
    lastError && h('bdi', null, `${full(lastError)} `), ledWords(o, seen),
    failing ? 'It answers questions, but does not keep what is written: new intents get 503, and nothing is sent. Everything can be looked at, and nothing changed. '
      : 'New intents get 503, and nothing is sent; what was accepted before is kept. Overview, Targets, Events and Configuration work: they are what this instance has in memory. '
        + 'Intents and all other lists need the store. ',
    o.asOf ? `Numbers are as of ${clock(o.asOf)} (${ago(o.asOf, now)}).`
      : o.statsAgeSeconds != null ? `Numbers are ${duration(o.statsAgeSeconds)} old.` : ''];
}
