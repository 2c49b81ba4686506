// What happened to the system, the newest first; from memory, as the overview is.

import { get, query } from '../api.js';
import { h, card, table, empty, pill, field, choice, link, time, word } from '../dom.js';
import { clock } from '../format.js';

export const live = true;

const LIMIT = 200;          // as many as an instance keeps

const seen = { kind: new Set(), instance: new Set() };  // what the filters offer

export async function load(ctx) {
  const of = (name) => ctx.params.get(name);
  const data = await get(`events${query({ kind: of('kind'), target: of('target'), limit: LIMIT })}`);

  for (const e of data.events) {
    seen.kind.add(e.kind);
    seen.instance.add(e.instance);
  }
  return data;
}

const says = (name) => name.replace(/_/g, ' ');

const row = (e, ctx) => ({ key: e.id, cells: [
  [time(e.at, ctx.now, clock(e.at)), h('div', { class: 'note' }, time(e.at, ctx.now))],
  pill(e.level, says(e.kind)),
  h('bdi', null, e.text),
  e.target ? link(`#/targets${query({ target: e.target })}`, word(e.target)) : '',
  word(e.instance || '')] });

export function view(data, ctx) {
  const of = (name) => ctx.params.get(name) || '';
  const pick = (name, label, options) => field(label, choice(name, [['', 'any'], ...options], of(name),
    (event) => ctx.go({ [name]: event.target.value })));
  const known = (name) => [...new Set([...seen[name], of(name)])].filter(Boolean).sort().map((one) => [one, name === 'kind' ? says(one) : one]);
  const list = data.events.filter((e) => !of('instance') || e.instance === of('instance'));
  const targets = [...ctx.targets?.targets || [], ...ctx.targets?.webhooks || []].map((t) => [t.target, t.target]);

  return [
    h('h1', null, 'Events'),
    h('div', { class: 'filters' }, pick('kind', 'What', known('kind')), pick('target', 'Target', targets), pick('instance', 'Instance', known('instance'))),
    card(null, table('Events', [['When', 'plain'], ['What', 'plain'], ['In words', 'text'], ['Target', 'part'], ['Instance', 'part']], list.map((e) => row(e, ctx)),
      empty('Nothing has happened', of('kind') || of('target') || of('instance') ? 'No event is like that. Choose fewer filters.'
        : 'Leaders that change, instances that come and go, and targets that fall ill are listed here.')))
  ];
}
