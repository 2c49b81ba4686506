// What is submitted again and again.

import { get, post, query, seg } from '../api.js';
import { h, id, card, pill, table, empty, button, link, time } from '../dom.js';
import { count, interval } from '../format.js';
import { attempt, dialog, more, toast } from '../act.js';
import { schedule } from '../forms.js';

export const load = (ctx) =>
  get(`schedules${query({ after: ctx.params.get('after') })}`);

async function act(s, what, text, ctx) {
  await attempt(post(`schedules/${seg(s.id)}/${what}`), text);
  ctx.refresh();
}

// The id is made when the dialog opens: if the answer is lost, a second click finds
// the intent that the first one has made.

function run(s, ctx) {
  const intentId = `${s.id}@console-${Date.now().toString(36)}`;

  dialog('Run it now?', [
    h('p', null, id(s.id)),
    h('p', null, 'One more intent is made of it now. Its planned times stay as they are.')
  ], { text: 'Run now', run: async () => {
    await post(`schedules/${seg(s.id)}/run`, { intentId });
    toast(`${s.id} runs`);
    ctx.refresh();
  } });
}

const remove = (s, ctx) => dialog(`Delete ${s.id}?`, [
  h('p', null, 'It makes no intents any more. Those that it has made stay as they are.')
], { text: 'Delete', tone: 'danger', run: async () => {
  await post(`schedules/${seg(s.id)}`, {}, 'DELETE');
  ctx.refresh();
} });

const actions = (s, ctx) => h('div', { class: 'acts' },
  s.paused
    ? button('Resume', () => act(s, 'resume', `${s.id} is resumed`, ctx), { class: 'primary small', 'aria-label': `Resume ${s.id}` })
    : button('Pause', () => act(s, 'pause', `${s.id} is paused`, ctx), { class: 'small', 'aria-label': `Pause ${s.id}` }),
  more(s.id, [
    ['Run it now…', () => run(s, ctx)],
    s.source !== 'configuration' && ['Edit…', () => schedule(ctx, s)],
    s.source !== 'configuration' && ['Delete…', () => remove(s, ctx), 'danger']]));

function row(s, ctx) {
  return { key: s.id, class: s.paused ? 'off' : '', cells: [
    [link(`#/intents${query({ idPrefix: `${s.id}@` })}`, id(s.id), 'strong'),
     s.source === 'configuration' && h('div', { class: 'note' }, 'from the configuration')],
    h('bdi', null, s.submissionTarget),
    s.every ? interval(s.every) : [h('code', { class: 'whole' }, s.cron), h('div', { class: 'note' }, s.timeZone || 'UTC')],
    [s.paused ? pill('paused') : s.error ? pill('error') : pill('open', 'active'),
     s.pauseReason && h('div', { class: 'note' }, h('bdi', null, `“${s.pauseReason}”`)),
     s.error && h('div', { class: 'note' }, h('bdi', null, s.error))],
    s.paused ? '–' : time(s.nextRunAt, ctx.now),
    s.lastIntentId ? link(`#/intents/${seg(s.lastIntentId)}`, time(s.lastRunAt, ctx.now)) : time(s.lastRunAt, ctx.now),
    [count(s.skipped), s.missed ? h('div', { class: 'note' }, `${count(s.missed)} missed`) : ''],
    ...(ctx.may ? [actions(s, ctx)] : [])
  ] };
}

export const view = (data, ctx) => [
  h('h1', null, 'Schedules'),
  ctx.may && h('div', { class: 'row head' }, button('Create a schedule…', () => schedule(ctx), { class: 'primary' })),
  card(null, table('Schedules', [['Schedule', 'name'], ['Target'], ['When'], ['State'], ['Next', 'num'], ['Last', 'num'], ['Skipped', 'num'], ...(ctx.may ? [['']] : [])],
    data.schedules.map((s) => row(s, ctx)),
    empty('No schedule yet', 'A schedule submits the same intent again and again: at an interval, or by a cron line.')),
  data.next && h('div', { class: 'row pages' }, button('Next page', () => ctx.go({ after: data.next }))))
];
