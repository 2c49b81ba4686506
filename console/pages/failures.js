// What failed, in groups; what was replayed already is counted apart.

import { get, query, seg } from '../api.js';
import { h, id, card, pill, table, empty, button, link, num, field, choice, time, word } from '../dom.js';
import { count, local } from '../format.js';
import { more } from '../act.js';
import { targetNames } from '../words.js';
import { job } from './jobs.js';

const SINCE = [['', 'ever'], ['1', 'the last hour'], ['24', 'the last day'], ['168', 'the last week']];

export async function load(ctx) {
  const hours = Number(ctx.params.get('since')) || 0;
  const since = hours ? new Date(Math.floor((ctx.now - hours * 3600000) / 60000) * 60000).toISOString() : '';

  return { ...await get(`failures${query({ since, target: ctx.params.get('target') })}`), since };
}

// what has ended cannot be canceled, but what would end alike can

const cancel = (f, ctx) => job('cancel', { target: f.submissionTarget, status: 'pending' }, ctx,
  (n) => `What is in this group has ended, and cannot be canceled. ${n ? 'These have not: they are pending, and would be tried.'
    : 'Nothing else of this target is pending.'}`);

// A search knows no errors: what a replay takes of a group, it takes of those that
// differ in their last error alone.

function alike(f, all) {
  const groups = all.filter((o) => o.submissionTarget === f.submissionTarget && o.status === f.status
                                   && (!f.reason || o.reason === f.reason)).length;

  return groups > 1 && (() => `These are the intents of ${groups} groups: all that ended alike, whatever their last error was.`);
}

function row(f, ctx, since, all) {
  const filter = { target: f.submissionTarget, status: f.status, reason: f.reason, from: since };
  const list = f.status !== 'refused' && `#/intents${query({ ...filter, from: local(since), by: 'completed' })}`;

  return { key: [f.submissionTarget, f.status, f.reason, f.lastError].join('\n'), cells: [
    h('bdi', { class: 'id strong' }, f.submissionTarget || '–'),
    pill(f.status),
    [word(f.reason || '–'), f.lastError && h('div', { class: 'note id' }, h('bdi', null, f.lastError))],
    [list ? h('a', { href: list }, num(f.count)) : num(f.count),
     f.replayed > 0 && h('div', { class: 'note' }, `${count(f.replayed)} replayed`)],
    time(f.newestAt, ctx.now),
    h('ul', { class: 'sample' }, f.newestIds.map((one) =>
      h('li', null, list ? link(`#/intents/${seg(one)}`, id(one)) : id(one)))),
    ...(ctx.may ? [list && h('div', { class: 'acts' },
      f.count > 0 && button('Replay…', () => job('replay', filter, ctx, alike(f, all)),
        { class: 'primary small', 'aria-label': `Replay ${f.submissionTarget} ${f.status} ${f.reason || ''}` }),
      more(`${f.submissionTarget} ${f.status} ${f.reason || ''}`, [
        ['List them', () => { location.hash = list; }],
        ['Cancel what is still pending of this target…', () => cancel(f, ctx), 'danger']]))] : [])
  ] };
}

export function view(data, ctx) {
  const since = ctx.params.get('since') || '';

  return [
    h('h1', null, 'Failures'),
    h('div', { class: 'filters' },
      field('Since', choice('since', SINCE, since, (event) => ctx.go({ since: event.target.value }))),
      field('Target', choice('of', [['', 'any'], ...targetNames(ctx)], ctx.params.get('target') || '', (event) => ctx.go({ target: event.target.value })))),
    card(null,
      table('Failures', [['Target', 'name'], ['Ended as'], ['Why', 'why'], ['Count', 'num'], ['Newest', 'num'], ['Examples', 'wider'], ...(ctx.may ? [['']] : [])],
        data.failures.map((f) => row(f, ctx, data.since, data.failures)),
        empty('Nothing has failed', `No intent was rejected or given up${since ? ` in ${SINCE.find(([value]) => value === since)?.[1]}` : ''}.`)),
      !data.complete && h('p', { class: 'note' }, 'There are more: the counts are those of the newest 10,000. Choose a target, or a shorter time.')),
    h('p', { class: 'note' }, 'How far a replay is: ', link('#/jobs', 'Jobs'), '.')
  ];
}
