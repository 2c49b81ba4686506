// Who did what.

import { get, query, seg } from '../api.js';
import { h, id, card, table, empty, button, link, field, choice, word } from '../dom.js';
import { ago, count, interval, moment, second } from '../format.js';
import { filterWords } from './jobs.js';

export const load = async (ctx) => (ctx.may ? get(`audit${query({
  actor: ctx.params.get('actor'), action: ctx.params.get('action'), limit: 50, after: ctx.params.get('after') })}`) : {});

const ACTIONS = ['cancel', 'replay', 'cancel_job', 'cancel_job_stop', 'replay_job', 'replay_job_stop', 'pause', 'resume',
  'schedule_put', 'schedule_delete', 'schedule_pause', 'schedule_resume', 'schedule_run'];
const INTENTS = /^(cancel|replay)$/;

const spoken = (action) => action.replace(/_/g, ' ');

// what was asked for, in words

const SAYS = {
  filter: (v) => filterWords(v), reason: (v) => `“${v}”`, every: (v) => interval(v), from: (v) => `from ${second(v)}`, startAt: (v) => `from ${second(v)}`,
  endAt: (v) => `until ${second(v)}`, cron: (v) => `at ${v}`, timeZone: (v) => v, limit: (v) => `${count(v)} at most`,
  again: (v) => v && 'also what was replayed before', contract: (v) => `by the ${v} contract`, misfire: (v) => `missed times: ${v}`,
  overlap: (v) => `while the last one runs: ${v}`
};

const other = (k, v) => `${k.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`)}: ${typeof v !== 'object' || v == null ? v
  : Object.entries(v).map(([name, of]) => `${name} ${of}`).join(', ')}`;

const detail = (d) => Object.entries(d || {}).map(([k, v]) => (SAYS[k] ? SAYS[k](v) : other(k, v))).filter(Boolean).join('; ');

const row = (e, i, ctx) => ({ key: `${e.at}-${e.object}-${i}`, cells: [
  h('time', { datetime: e.at, title: moment(e.at, ctx.now) }, ago(e.at, ctx.now)),
  h('bdi', null, e.actor || '–'), h('code', null, e.address || '–'), h('strong', null, spoken(e.action)),
  INTENTS.test(e.action) ? link(`#/intents/${seg(e.object)}`, id(e.object)) : id(e.object),
  word(detail(e.detail))] });

export function view(data, ctx) {
  if (!ctx.may) {
    return [h('h1', null, 'Audit'), card(null, empty('The audit is not shown here',
      'This console is for looking only. Use one with access=operate to see who did what.'))];
  }
  const asked = (name) => ctx.params.get(name) || '';
  const of = (name) => document.getElementById(name).value.trim();
  const submit = () => ctx.go({ actor: of('actor'), action: of('action'), after: '' });

  return [
    h('h1', null, 'Audit'),
    h('form', { class: 'filters', onsubmit: (event) => {
      event.preventDefault();
      submit();
    } }, field('Who', h('input', { id: 'actor', maxlength: 200, value: asked('actor'), autocomplete: 'off' })),
      field('Action', choice('action', [['', 'any'], ...ACTIONS.map((one) => [one, spoken(one)])], asked('action'), submit)),
      h('div', { class: 'field buttons' }, h('button', { type: 'submit', class: 'primary' }, 'Search'))),
    card(null, table('Audit', [['When'], ['Who'], ['From'], ['Action'], ['Of'], ['Detail']],
      data.entries.map((e, i) => row(e, i, ctx)),
      empty('Nothing has been done', 'Each cancel, replay, pause and job is written down here.')),
    h('div', { class: 'row pages' },
      ctx.params.get('after') && button('Newest', () => ctx.go({ after: '' })),
      data.next && button('Older', () => ctx.go({ after: data.next }))))
  ];
}
