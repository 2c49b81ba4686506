// What is submitted again and again.

import { get, post, query, seg } from '../api.js';
import { h, id, card, pill, table, empty, button, link } from '../dom.js';
import { count, ago, moment } from '../format.js';
import { attempt, dialog } from '../act.js';

export const load = (ctx) =>
  get(`schedules${query({ after: ctx.params.get('after') })}`);

async function act(s, what, text, ctx) {
  await attempt(post(`schedules/${seg(s.id)}/${what}`), text);
  ctx.refresh();
}

const run = (s, ctx) => dialog('Run it now?', [
  h('p', null, id(s.id)),
  h('p', null, 'One more intent is made of it now. Its planned times stay as they are.')
], { text: 'Run now', run: () => act(s, 'run', `${s.id} runs`, ctx) });

const when = (at, ctx) => (at
  ? h('time', { datetime: at, title: moment(at) }, ago(at, ctx.now)) : '–');

function row(s, ctx) {
  return { key: s.id, class: s.paused ? 'off' : '', cells: [
    [link(`#/intents${query({ idPrefix: `${s.id}@` })}`, id(s.id), 'strong'),
     s.source === 'configuration' && h('div', { class: 'note' }, 'from the configuration')],
    h('bdi', null, s.submissionTarget),
    [h('code', null, s.cron || s.every), s.cron && s.timeZone && h('div', { class: 'note' }, s.timeZone)],
    [s.paused ? pill('paused') : s.error ? pill('error') : pill('open', 'active'),
     s.pauseReason && h('div', { class: 'note' }, h('bdi', null, `“${s.pauseReason}”`)),
     s.error && h('div', { class: 'note' }, h('bdi', null, s.error))],
    s.paused ? '–' : when(s.nextRunAt, ctx),
    s.lastIntentId ? link(`#/intents/${seg(s.lastIntentId)}`, when(s.lastRunAt, ctx)) : when(s.lastRunAt, ctx),
    [count(s.skipped), s.missed ? h('div', { class: 'note' }, `${count(s.missed)} missed`) : ''],
    ...(ctx.may ? [h('div', { class: 'row' },
      s.paused
        ? button('Resume', () => act(s, 'resume', `${s.id} is resumed`, ctx), { class: 'primary small', 'aria-label': `Resume ${s.id}` })
        : button('Pause', () => act(s, 'pause', `${s.id} is paused`, ctx), { class: 'small', 'aria-label': `Pause ${s.id}` }),
      button('Run now…', () => run(s, ctx), { class: 'small', 'aria-label': `Run ${s.id} now` }))] : [])
  ] };
}

export const view = (data, ctx) => [
  h('h1', null, 'Schedules'),
  card(null, table('Schedules', [['Schedule'], ['Target'], ['Every'], ['State'], ['Next', 'num'], ['Last', 'num'], ['Skipped', 'num'], ...(ctx.may ? [['']] : [])],
    data.schedules.map((s) => row(s, ctx)),
    empty('No schedule yet', 'Make one with PUT /v1/schedules/{id}: an interval or a cron line, a target and a payload.')),
  data.next && h('div', { class: 'row pages' }, button('Next page', () => ctx.go({ after: data.next }))))
];
