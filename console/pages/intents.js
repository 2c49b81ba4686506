// To find intents.  Each filter is one that an index answers; there is no total.

import { get, post, query, seg } from '../api.js';
import { h, id, card, pill, table, empty, button, link, field, choice, next, time, word } from '../dom.js';
import { count } from '../format.js';
import { dialog, each, replayTone, replayWords } from '../act.js';
import { advice } from '../api.js';
import { submit as submitTest } from '../forms.js';
import { targetNames } from '../words.js';
import { job } from './jobs.js';

const FILTERS = ['idPrefix', 'target', 'status', 'reason', 'from', 'to', 'by', 'order'];
const STATUSES = ['pending', 'accepted', 'rejected', 'exhausted', 'canceled'];
const LIMIT = 50;
const ENDED = 'Ended / next';

// a local time of the form, as the API takes it

function instant(text) {
  const at = text && new Date(text);
  return at && !Number.isNaN(at.getTime()) ? at.toISOString() : '';
}

function args(params) {
  const f = Object.fromEntries(FILTERS.map((name) => [name, params.get(name) || '']));

  if (f.idPrefix) {
    return { idPrefix: f.idPrefix, order: f.order };
  }
  return { ...f, from: instant(f.from), to: instant(f.to), by: f.reason ? 'completed' : f.by };
}

export const load = (ctx) =>
  get(`intents${query({ ...args(ctx.params), limit: LIMIT, after: ctx.params.get('after') })}`);

function form(ctx) {
  const p = ctx.params;
  const byId = Boolean(p.get('idPrefix'));
  const off = (control) => { control.disabled = byId; return control; };
  const select = (name, label, options) =>
    field(label, off(choice(name, options, p.get(name) || '', () => submit(ctx))));
  const input = (name, label, props) => field(label, h('input', { id: name, name,
    disabled: byId && name !== 'search', value: p.get(name) || '', ...props }));

  return h('form', { class: 'filters', role: 'search', onsubmit: (event) => {
    event.preventDefault();
    submit(ctx);
  } },
    input('search', 'Id, or its beginning ( / )', { value: p.get('idPrefix') || '', type: 'search', maxlength: 200,
                                                autocomplete: 'off', spellcheck: 'false', class: 'long' }),
    select('target', 'Target', [['', 'any'], ...targetNames(ctx)]),
    select('status', 'Status', [['', 'any'], ...STATUSES.map((s) => [s, s])]),
    input('reason', 'Reason', { maxlength: 200, placeholder: 'such as max_attempts', autocomplete: 'off' }),
    input('from', 'From', { type: 'datetime-local', step: 1 }),
    input('to', 'To', { type: 'datetime-local', step: 1 }),
    select('by', 'By time of', [['', 'submission'], ['completed', 'their end']]),
    select('order', 'Order', [['', byId ? 'by id' : 'newest first'], ['asc', 'oldest first'], ['desc', 'newest first']]),
    h('div', { class: 'field buttons' },
      h('button', { type: 'submit', class: 'primary' }, 'Search'),
      link('#/intents', 'Clear', 'button'),
      ctx.may && button('Submit a test intent…', () => submitTest(ctx))));
}

function submit(ctx) {
  const of = (name) => document.getElementById(name).value.trim();
  const prefix = of('search');
  const changes = { idPrefix: prefix, after: '', sel: '', find: '' };

  for (const name of FILTERS.slice(1)) {
    changes[name] = prefix && name !== 'order' ? '' : of(name);
  }
  ctx.go(changes);
}

function toggle(ctx, one, on) {
  const sel = new Set(ctx.params.getAll('sel'));
  on ? sel.add(one) : sel.delete(one);
  ctx.go({ sel: [...sel] }, true);
}

const ended = (i) => i.status !== 'pending';

const accepted = (list) => ({ n: list.filter((i) => i.status === 'accepted').length });

// what came of it, in words

const DONE = { cancel: 'canceled', replay: 'replayed' };

const cameOf = (kind, { done, before, failed }) => [
  h('p', null, h('strong', null, `${count(done)} ${DONE[kind]}`),
    before > 0 && `, ${count(before)} ${before === 1 ? 'was' : 'were'} ${DONE[kind]} before: nothing was done`,
    failed.length ? `, ${count(failed.length)} not:` : '.'),
  h('ul', { class: 'sample' }, failed.map(([one, problem]) => h('li', null, id(one), ': ', problem.message, '. ', advice(problem))))];

function act(kind, list, ctx) {
  const ids = list.map((i) => i.intentId);
  const many = `${count(ids.length)} intent${ids.length === 1 ? '' : 's'}`;

  dialog(kind === 'cancel' ? `Cancel ${many}?` : `Replay ${many}?`, [
    h('p', null, kind === 'cancel'
      ? 'They end as canceled, and are never sent. One whose attempt is at the gateway is left as it is.'
      : 'Each becomes a new intent with the same target and payload, and is sent again. One that was replayed before is skipped.'),
    kind === 'replay' && replayWords(ids.length, accepted(list)),
    h('ul', { class: 'sample' }, ids.slice(0, 10).map((one) => h('li', null, id(one))),
      ids.length > 10 && h('li', null, `and ${count(ids.length - 10)} more`))
  ], { text: kind === 'cancel' ? 'Cancel them' : 'Replay them', tone: kind === 'cancel' ? 'danger' : replayTone(accepted(list)),
       run: async (progress) => {
         const result = await each(ids, (one) => post(`intents/${seg(one)}/${kind}`), progress);
         ctx.go({ sel: [] }, true);
         ctx.refresh();
         return cameOf(kind, result);
       } });
}

// why no job can be made of a search: a job of cancels goes by the time of creation, one of
// replays by that of the end, and what no index answers is refused

function refusal(kind, f) {
  const times = f.from || f.to;

  return kind === 'cancel'
    ? (f.status && f.status !== 'pending') || f.reason ? 'What has ended cannot be canceled.'
      : times && f.by === 'completed' ? 'What is pending has not ended: search by the time of submission.' : ''
    : f.status === 'pending' ? 'What is pending cannot be replayed.'
      : !f.status && !f.reason && !f.idPrefix ? 'Choose a status or a reason: what was accepted would be replayed, too.'
      : times && f.by !== 'completed' ? 'A replay goes by when intents ended: search by the time of their end.' : '';
}

function tools(data, ctx) {
  const there = new Map(data.intents.map((i) => [i.intentId, i]));
  const sel = ctx.params.getAll('sel').map((one) => there.get(one)).filter(Boolean);
  const pending = sel.filter((i) => !ended(i));
  const over = sel.filter(ended);
  const f = args(ctx.params);
  const filter = { target: f.target, status: f.status, reason: f.reason, from: f.from, to: f.to, idPrefix: f.idPrefix };
  const any = !sel.length && Object.values(filter).some(Boolean);

  return h('div', { class: 'row tools' },
    h('span', { role: 'status' }, sel.length ? `${count(sel.length)} selected` : h('span', { class: 'note' }, 'Select intents to cancel or replay them.')),
    pending.length > 0 && button(`Cancel ${count(pending.length)}…`, () => act('cancel', pending, ctx), { class: 'danger small' }),
    over.length > 0 && button(`Replay ${count(over.length)}…`, () => act('replay', over, ctx), { class: accepted(over).n ? 'small' : 'primary small' }),
    any && [['cancel', 'Cancel all of these…'], ['replay', 'Replay all of these…']].map(([kind, text]) => {
      const not = refusal(kind, f);
      return button(text, () => job(kind, filter, ctx), { class: 'small', disabled: Boolean(not), title: not });
    }));
}

function row(i, ctx, sel) {
  const reason = i.rejectedReason || i.exhaustedReason || i.lastReason;

  return { key: `i-${i.intentId}`, labels: { [ENDED]: i.completedAt ? 'Ended' : 'Next' }, cells: [
    ...(ctx.may ? [h('input', { type: 'checkbox', 'aria-label': `Select ${i.intentId}`, checked: sel.has(i.intentId),
                                onchange: (event) => toggle(ctx, i.intentId, event.target.checked) })] : []),
    link(`#/intents/${seg(i.intentId)}`, id(i.intentId), 'strong'),
    word(i.submissionTarget),
    [pill(i.status), i.inFlight && [' ', h('span', { class: 'pill note' }, 'in flight')]],
    count(i.attemptCount),
    time(i.createdAt, ctx.now),
    i.completedAt ? time(i.completedAt, ctx.now) : next(i, ctx.now) || '–',
    (reason || i.lastError || i.replayedAs?.length) && h('div', { class: 'clip' },
      reason && [word(reason), i.lastError && ': '], i.lastError && h('bdi', null, i.lastError), i.replayedAs?.length > 0 && ' (replayed)')
  ] };
}

export function view(data, ctx) {
  const sel = new Set(ctx.params.getAll('sel'));
  const all = data.intents.length > 0 && data.intents.every((i) => sel.has(i.intentId));
  const pick = h('input', { type: 'checkbox', 'aria-label': 'Select all on this page', checked: all,
                            indeterminate: !all && sel.size > 0,
                            onchange: (event) => ctx.go({ sel: event.target.checked ? data.intents.map((i) => i.intentId) : [] }, true) });

  return [
    h('h1', null, 'Intents'),
    form(ctx),
    card(null, ctx.may && data.intents.length > 0 && tools(data, ctx),
      table('Intents', [...(ctx.may ? [[pick, 'tick']] : []), ['Intent', 'name'], ['Target', 'plain'], ['Status', 'plain'], ['Attempts', 'num'],
                        ['Submitted', 'num'], [ENDED, 'num'], ['Why', 'why']],
        data.intents.map((i) => row(i, ctx, sel)),
        FILTERS.some((name) => ctx.params.get(name))
          ? empty('No intent matches', 'Ids are matched from their beginning, and case counts. Try fewer filters, or another time.')
          : empty('No intent yet', 'Each that is submitted is listed here, the newest first.')),
      h('div', { class: 'row pages' },
        ctx.params.get('after') && button('First page', () => ctx.go({ after: '', sel: [] })),
        ctx.params.get('after') && button('Previous', () => history.back()),
        data.next && button('Next page', () => ctx.go({ after: data.next, sel: [] })),
        !data.next && data.intents.length > 0 && h('span', { class: 'note' }, 'This is the last page.')))
  ];
}

export function after(data, ctx) {
  if (ctx.params.get('find')) {
    ctx.go({ find: '' }, true);
    document.getElementById('search')?.focus();
  }
}
