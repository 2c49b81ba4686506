// What failed, in groups, and jobs that deal with many at once.

import { get, post, query, seg } from '../api.js';
import { h, id, card, pill, table, empty, button, link, num, facts } from '../dom.js';
import { count, ago, moment, local } from '../format.js';
import { dialog, attempt } from '../act.js';

const SINCE = [['', 'ever'], ['1', 'the last hour'], ['24', 'the last day'], ['168', 'the last week']];

const watched = new Map();  // jobs that this page has started, and how many it found

export async function load(ctx) {
  const hours = Number(ctx.params.get('since')) || 0;
  const since = hours ? new Date(Math.floor((ctx.now - hours * 3600000) / 60000) * 60000).toISOString() : '';
  const [failures, replays, cancels] = await Promise.all([
    get(`failures${query({ since, target: ctx.params.get('target') })}`), get('replays'), get('cancels')]);
  const jobs = [...replays.jobs, ...cancels.jobs];

  watch(jobs, ctx);
  return { ...failures, since, jobs };
}

// only whoever started a job asks how far it is

function watch(list, ctx) {
  const running = list.some((j) => watched.has(j.id) && j.state === 'running');

  if (running) {
    setTimeout(() => location.hash.startsWith('#/failures') && ctx.refresh(), 2000);
  }
}

const clean = (filter) =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value));

// those that intents are sent to

export const names = (ctx) => ctx.config.targets.filter((t) => t.gatewayType !== 'webhook')
  .map((t) => [t.target, t.target]).sort();

const words = (filter) => facts(Object.entries(filter).map(([name, value]) =>
  [name === 'idPrefix' ? 'Id begins with' : name[0].toUpperCase() + name.slice(1), h('bdi', null, value)]));

// the dry run first: how many, and which

export async function job(kind, wanted, ctx, note) {
  const filter = clean(wanted);
  const verb = kind === 'cancel' ? 'Cancel' : 'Replay';
  let dry;

  try {
    dry = await post(`${kind}s`, { filter, dryRun: true });
  } catch (problem) {
    await attempt(Promise.reject(problem));
    return;
  }

  const many = `${dry.countIsBound ? 'at least ' : ''}${count(dry.count)}`;

  dialog(dry.count ? `${verb} ${many} intent${dry.count === 1 ? '' : 's'}?` : `Nothing to ${kind}`, [
    words(filter),
    note && h('p', null, note(dry.count)),
    dry.count > 0 && h('p', null, kind === 'cancel'
      ? 'They end as canceled, and are never sent. Those whose attempt is at the gateway are left as they are.'
      : 'Each becomes a new intent with the same target and payload, and is sent again.',
      ' The leader works through them; you can see how far it is, and stop it.'),
    dry.sample?.length > 0 && [h('h3', null, 'Some of them'),
      h('ul', { class: 'sample' }, dry.sample.map((one) => h('li', null, id(one.intentId || one))))]
  ], dry.count > 0 && { text: `${verb} ${many}`, tone: kind === 'cancel' ? 'danger' : 'primary', run: async () => {
    const made = await post(`${kind}s`, { id: `console-${Date.now().toString(36)}`, filter });
    watched.set(made.id, dry.countIsBound ? 0 : dry.count);
    location.hash.startsWith('#/failures') ? ctx.refresh() : location.hash = '#/failures';
  } });
}

async function stop(kind, j, ctx) {
  await attempt(post(`${kind}s/${seg(j.id)}/stop`), 'The job stops');
  ctx.refresh();
}

function jobRow(j, ctx) {
  const all = watched.get(j.id) || j.limit;
  const kind = j.kind;

  return { key: `${kind}-${j.id}`, cells: [
    [h('strong', null, kind), ' ', h('bdi', { class: 'id' }, j.id)],
    h('bdi', null, Object.entries(j.filter || {}).map(([k, v]) => `${k}: ${v}`).join(', ')),
    pill(j.state),
    [count(j.done), j.skipped ? h('span', { class: 'note' }, `, ${count(j.skipped)} skipped`) : '',
     j.state === 'running' && h('progress', { 'aria-label': `Progress of ${j.id}`, ...(all ? { max: all, value: j.matched || 0 } : {}) }),
     j.lastError && h('div', { class: 'note' }, h('bdi', null, j.lastError))],
    h('time', { datetime: j.createdAt, title: moment(j.createdAt) }, ago(j.createdAt, ctx.now)),
    h('bdi', null, j.actor || '–'),
    ...(ctx.may ? [j.state === 'running' ? button('Stop', () => stop(kind, j, ctx), { class: 'small', 'aria-label': `Stop ${j.id}` }) : ''] : [])
  ] };
}

function jobList(data, ctx) {
  const rows = data.jobs.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1)).slice(0, 20)
    .map((j) => jobRow(j, ctx));

  return card('Jobs', table('Jobs', [['Job', 'name'], ['Of'], ['State'], ['Done', 'num'], ['Begun', 'num'], ['By'], ...(ctx.may ? [['']] : [])],
    rows, empty('No job yet', 'Replaying a group, or canceling what is pending of a target, makes one.')));
}

// what has ended cannot be canceled, but what would end alike can

const cancel = (f, ctx) => job('cancel', { target: f.submissionTarget, status: 'pending' }, ctx,
  (n) => `What is in this group has ended, and cannot be canceled. ${n ? 'These have not: they are pending, and would be tried.'
    : 'Nothing else of this target is pending.'}`);

function row(f, ctx, since) {
  const filter = { target: f.submissionTarget, status: f.status, reason: f.reason, from: since };

  return { key: [f.submissionTarget, f.status, f.reason, f.lastError].join('\n'), cells: [
    h('bdi', { class: 'id strong' }, f.submissionTarget || '–'),
    pill(f.status),
    [h('bdi', null, f.reason || '–'), f.lastError && h('div', { class: 'note id' }, h('bdi', null, f.lastError))],
    num(f.count),
    h('time', { datetime: f.newestAt, title: moment(f.newestAt) }, ago(f.newestAt, ctx.now)),
    h('ul', { class: 'sample' }, f.newestIds.map((one) =>
      h('li', null, f.status === 'refused' ? id(one) : link(`#/intents/${seg(one)}`, id(one))))),
    h('div', { class: 'row' },
      f.status !== 'refused' && [
        link(`#/intents${query({ ...filter, from: local(since), by: 'completed' })}`, 'List', 'button small'),
        ctx.may && button('Replay…', () => job('replay', filter, ctx),
          { class: 'primary small', 'aria-label': `Replay ${f.submissionTarget} ${f.status} ${f.reason || ''}` }),
        ctx.may && button('Cancel pending…', () => cancel(f, ctx),
          { class: 'small quiet', 'aria-label': `Cancel what is pending of ${f.submissionTarget}` })])
  ] };
}

export function view(data, ctx) {
  const since = ctx.params.get('since') || '';
  const target = ctx.params.get('target') || '';

  return [
    h('h1', null, 'Failures'),
    h('div', { class: 'filters' },
      h('div', { class: 'field' }, h('label', { for: 'since' }, 'Since'),
        h('select', { id: 'since', value: since, onchange: (event) => ctx.go({ since: event.target.value }) },
          SINCE.map(([value, text]) => h('option', { value, selected: value === since }, text)))),
      h('div', { class: 'field' }, h('label', { for: 'of' }, 'Target'),
        h('select', { id: 'of', value: target, onchange: (event) => ctx.go({ target: event.target.value }) },
          [['', 'any'], ...names(ctx)]
            .map(([value, text]) => h('option', { value, selected: value === target }, text))))),
    card(null,
      table('Failures', [['Target', 'name'], ['Ended as'], ['Why', 'why'], ['Count', 'num'], ['Newest', 'num'], ['Examples'], ['', 'acts']],
        data.failures.map((f) => row(f, ctx, data.since)),
        empty('Nothing has failed', `No intent was rejected or given up${since ? ` in ${SINCE.find(([value]) => value === since)?.[1]}` : ''}.`)),
      !data.complete && h('p', { class: 'note' }, 'There are more: the counts are those of the newest 10,000. Choose a target, or a shorter time.')),
    jobList(data, ctx)
  ];
}
