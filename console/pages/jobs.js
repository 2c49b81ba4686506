// Jobs, which replay or cancel many intents, and the dialog that begins one.

import { get, post, query, seg } from '../api.js';
import { h, id, card, pill, table, empty, button, facts, pages, time, word } from '../dom.js';
import { count, duration, second } from '../format.js';
import { dialog, attempt, replayTone, replayWords } from '../act.js';

const EVERY = 2000;         // ms, while a job runs that was begun here
const OTHERS = 4000;        // ms, while one runs that somebody else has begun

let timer;

const watched = new Set();  // jobs that this page has begun
const found = new Map();    // how many a job finds in all: {n, more}, or nothing if that cannot be known

export async function load(ctx) {
  const place = ctx.params.get('after')?.split(' ') || [];
  const [replays, cancels] = await Promise.all(['replays', 'cancels'].map((kind, i) =>
    get(`${kind}${query({ limit: 50, after: place[i] })}`)));
  const jobs = [...replays.jobs, ...cancels.jobs].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));

  const running = jobs.filter((j) => j.state === 'running');

  await Promise.all(running.filter((j) => ctx.may && !found.has(j.id)).map(total));
  clearTimeout(timer);
  if (running.length) {
    follow(ctx, running.some((j) => watched.has(j.id)) ? EVERY : OTHERS);
  }
  return { jobs, next: replays.next && cancels.next ? `${replays.next} ${cancels.next}` : null };
}

// Of a job that somebody else has begun, a dry run of the same filter tells once how many
// are left: of those that were there when it began, or it would count what it has made.

async function total(j) {
  const { idPrefix, to } = j.filter;
  const filter = idPrefix ? j.filter : { ...j.filter, to: to && to < j.createdAt ? to : j.createdAt };

  found.set(j.id, null);
  try {
    const { count: left, countIsBound: more } = await post(`${j.kind}s`, { filter, dryRun: true, ...(j.again && { again: true }) });
    const n = j.again ? left : j.done + j.skipped + left;

    found.set(j.id, j.limit && j.limit + j.skipped <= n ? { n: j.limit + j.skipped } : { n, more });
  } catch { /* how far it is is seen nevertheless */ }
}

// as long as one runs, whoever looks sees how far it is

function follow(ctx, wait) {
  timer = setTimeout(() => {
    if (location.hash.startsWith('#/jobs')) {
      document.hidden ? follow(ctx, wait) : ctx.refresh();
    }
  }, wait);
}

const clean = (filter) => Object.fromEntries(Object.entries(filter).filter(([, value]) => value));

const NAMES = { idPrefix: 'Id begins with', from: 'From', to: 'Before', target: 'Target', status: 'Status', reason: 'Reason' };

const words = (filter) => facts(Object.entries(filter).map(([name, value]) => [NAMES[name] || name, h('bdi', null, value)]));

export const filterWords = (filter) => Object.entries(filter || {}).map(([k, v]) =>
  `${(NAMES[k] || k).toLowerCase()} ${/^(from|to)$/.test(k) ? second(v) : v}`).join(', ');

const are = (n) => (n === 1 ? '1 intent was' : `${count(n)} intents were`);

// How many of those that a replay finds were accepted.  One with a status or a reason
// finds all or none of them; of ids, nobody counts them, so as many as a page has are
// looked at.

const LOOK = 500;

async function accepted(filter, dry) {
  if (filter.status || filter.reason) {
    return { n: filter.status === 'accepted' ? dry.count : 0 };
  }
  const { intents, next } = await get(`intents${query({ idPrefix: filter.idPrefix, limit: LOOK })}`);
  return { n: intents.filter((i) => i.status === 'accepted' && !i.replayedAs?.length).length, more: Boolean(next) };
}

// what a replay of those will do, and what it will leave alone

function warning(dry, old) {
  const before = dry.replayed || 0;

  return [
    before > 0 && h('p', null, h('strong', null, `${are(before)} replayed before`), ' and will be skipped.'),
    h('p', null, 'Each becomes a new intent with the same target and payload, and is sent again.'),
    replayWords(dry.count, old)];
}

// the dry run first: how many, and which

export async function job(kind, wanted, ctx, note) {
  const filter = clean(wanted);
  const verb = kind === 'cancel' ? 'Cancel' : 'Replay';
  const name = `console-${Date.now().toString(36)}`;
  let dry, old;

  try {
    dry = await post(`${kind}s`, { filter, dryRun: true });
    old = kind === 'replay' && dry.count > 0 && await accepted(filter, dry);
  } catch (problem) {
    await attempt(Promise.reject(problem));
    return;
  }

  const many = `${dry.countIsBound ? 'at least ' : ''}${count(dry.count)}`;

  dialog(dry.count ? `${verb} ${many} intent${dry.count === 1 ? '' : 's'}?` : `Nothing to ${kind}`, [
    words(filter),
    note && h('p', null, note(dry.count)),
    kind === 'replay' && !dry.count && dry.replayed > 0 && h('p', null, `${are(dry.replayed)} replayed before. To replay one again, open it.`),
    dry.count > 0 && [kind === 'cancel'
      ? h('p', null, 'They end as canceled, and are never sent. Those whose attempt is at the gateway are left as they are.') : warning(dry, old),
      h('p', null, 'The leader works through them. You can see how far it is, and stop it.')],
    dry.sample?.length > 0 && [h('h3', null, 'Some of them'),
      h('ul', { class: 'sample' }, dry.sample.map((one) => h('li', null, id(one.intentId || one))))]
  ], dry.count > 0 && { text: `${verb} ${many}`, tone: kind === 'cancel' ? 'danger' : replayTone(old), run: async () => {
    const made = await post(`${kind}s`, { id: name, filter });
    watched.add(made.id);
    found.set(made.id, { n: dry.count, more: dry.countIsBound });
    location.hash === '#/jobs' ? ctx.refresh() : location.hash = '#/jobs';
  } });
}

async function stop(j, ctx) {
  await attempt(post(`${j.kind}s/${seg(j.id)}/stop`), 'The job stops');
  ctx.refresh();
}

// What became of each intent, as parts of one bar, which has no end if nobody could be
// asked how many there will be.

function progress(j) {
  const parts = [['done', j.done], ['skipped', j.skipped]].filter(([, n]) => n > 0);
  const seen = parts.reduce((sum, [, n]) => sum + n, 0);
  const running = j.state === 'running';
  const { n: known, more } = running ? found.get(j.id) || {} : { n: seen };
  const all = Math.max(known || 0, seen);
  const open = running && known == null;
  const says = [`${count(j.done)} done`, j.skipped > 0 && `${count(j.skipped)} skipped`].filter(Boolean).join(', ')
    + (open ? ' so far' : running ? ` of ${more ? 'more than ' : ''}${count(all)}` : '');

  return [h('div', { class: open ? 'parts open' : 'parts', 'aria-hidden': 'true' }, !open && parts.map(([name, n]) =>
    h('span', { class: name, style: { width: `${n / (all || 1) * 100}%` } }))), h('div', null, says),
    j.lastError && h('div', { class: 'note' }, h('bdi', null, j.lastError))];
}

const took = (j) => (j.completedAt ? duration((Date.parse(j.completedAt) - Date.parse(j.createdAt)) / 1000) : '');

const row = (j, ctx) => ({ key: `${j.kind}-${j.id}`, cells: [
  [h('strong', null, j.kind), ' ', id(j.id)],
  [word(filterWords(j.filter)),
   [j.limit && `${count(j.limit)} at most`, j.again && 'also what was replayed before', j.contract && 'by the contract that it had']
     .filter(Boolean).map((text) => h('div', { class: 'note' }, text))],
  pill(j.state), progress(j),
  [time(j.createdAt, ctx.now), took(j) && h('div', { class: 'note' }, `took ${took(j)}`)],
  h('bdi', null, j.actor || '–'),
  ...(ctx.may ? [j.state === 'running' ? button('Stop', () => stop(j, ctx), { class: 'small', 'aria-label': `Stop ${j.id}` }) : ''] : [])
] });

export const view = (data, ctx) => [
  h('h1', null, 'Jobs'),
  h('p', { class: 'note' }, 'A job replays or cancels many intents at once. Begin one on Failures, or with any search of Intents.'),
  card(null, table('Jobs', [['Job', 'name'], ['Of', 'why'], ['State'], ['Progress', 'wider'], ['Begun', 'num'], ['By'], ...(ctx.may ? [['']] : [])],
    data.jobs.map((j) => row(j, ctx)), empty('No job yet')), pages(ctx, data.next))
];
