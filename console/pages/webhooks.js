// What each webhook is told, and what could not be delivered.

import { get, post, query, seg } from '../api.js';
import { h, id, card, pill, table, empty, button, link, field, choice, next, pages, time } from '../dom.js';
import { count } from '../format.js';
import { attempt, toast } from '../act.js';
import { condition, illnessPill } from '../words.js';

const STATUSES = [['', 'given up'], ['pending', 'to be delivered'], ['accepted', 'delivered']];
const ENDED = 'Ended / next';
const NONE = { '': 'to this webhook was given up', pending: 'waits to be delivered', accepted: 'was delivered yet' };

const names = (ctx) => ctx.config.targets.filter((t) => t.gatewayType === 'webhook')
  .map((t) => t.target.replace(/^webhook /, '')).sort();

const chosen = (ctx) => ctx.params.get('webhook') || names(ctx)[0] || '';

const ask = (ctx, args) => get(`webhooks/${seg(chosen(ctx))}/messages${query(args)}`);

// A message that is sent again is one more in the list, with the same id: so the newest
// of those with another status are asked for, too.

export async function load(ctx) {
  if (!chosen(ctx)) {
    return { messages: [], next: null };
  }
  const status = ctx.params.get('status') || '';
  const [data, ...others] = await Promise.all([ask(ctx, { status, limit: 50, after: ctx.params.get('after') }),
    ...STATUSES.filter(([other]) => other !== status).map(([other]) => ask(ctx, { status: other, limit: 200 }))]);

  return { ...data, newest: newest([data, ...others].flatMap((d) => d.messages)) };
}

// the newest of each message

function newest(list) {
  const of = new Map();

  for (const m of list) {
    if (!(of.get(m.messageId)?.createdAt >= m.createdAt)) {
      of.set(m.messageId, m);
    }
  }
  return of;
}

const later = (m, of) => (of.get(m.messageId)?.createdAt > m.createdAt ? of.get(m.messageId) : null);

const SINCE = { accepted: 'was delivered since', pending: 'is to be delivered again', exhausted: 'was given up again since' };

// what came of it, in words: what is still to be delivered is not sent twice

export const tell = (webhook, intentId) => attempt(post(`intents/${seg(intentId)}/webhooks/resend`, { webhook }),
  ({ made }) => (made === 0 ? [`Nothing was sent: the message for ${webhook} is still to be delivered`, 'warn'] : `${webhook} is told again`));

// others may have sent it since this page was opened

async function resend(m, ctx) {
  const { webhooks } = await get(`intents/${seg(m.intentId)}/history${query({ limit: 1 })}`).catch(() => ({}));
  const since = later(m, newest(webhooks || []));

  if (since) {
    toast(`Nothing was sent: the message ${SINCE[since.status]}`, 'warn');
  } else {
    await tell(m.webhook, m.intentId);
  }
  ctx.refresh();
}

const row = (m, n, ctx, since) => ({ key: `${m.messageId}-${m.createdAt}-${n}`, labels: { [ENDED]: m.completedAt ? 'Ended' : 'Next' }, cells: [
  link(`#/intents/${seg(m.intentId)}`, id(m.intentId), 'strong'),
  [pill(since ? 'quiet' : m.status, m.status === 'accepted' ? 'delivered' : m.status === 'exhausted' ? 'given up' : 'pending'),
   since && h('div', { class: 'note' }, SINCE[since.status])],
  count(m.attemptCount), time(m.createdAt, ctx.now),
  next(m, ctx.now) || time(m.completedAt, ctx.now),
  m.lastError ? h('bdi', null, m.lastError) : '', h('code', { class: 'id whole', title: m.messageId }, m.messageId),
  ...(ctx.may ? [m.status === 'pending' || since ? '' : h('div', { class: 'acts' }, button('Send again', () => resend(m, ctx),
    { class: 'small', 'aria-label': `Tell ${m.webhook} of ${m.intentId} again` }))] : [])] });

export function view(data, ctx) {
  const list = names(ctx);
  const name = chosen(ctx);
  const t = ctx.targets?.webhooks?.find((one) => one.target === `webhook ${name}` || one.target === name);
  const status = ctx.params.get('status') || '';

  if (!name) {
    return [h('h1', null, 'Webhooks'), card(null, empty('No webhook is configured', 'A webhook is told when intents end.'))];
  }
  return [
    h('h1', null, 'Webhooks'),
    h('div', { class: 'filters' },
      field('Webhook', choice('webhook', list.map((one) => [one, one]), name, (event) => ctx.go({ webhook: event.target.value, after: '' }))),
      field('Messages', choice('messages', STATUSES, status, (event) => ctx.go({ status: event.target.value, after: '' })))),
    t && h('div', { class: 'row head' }, condition(t).map(illnessPill),
      h('span', null, `${count(t.due)} due, ${count(t.waiting)} waiting.`), link('#/targets', 'Pause it on Targets')),
    card(null, table('Messages', [['Of intent', 'name'], ['Status'], ['Attempts', 'num'], ['Made', 'num'], [ENDED, 'num'], ['Last error', 'why'],
                                  ['Message', 'plain'], ...(ctx.may ? [['']] : [])],
      data.messages.map((m, n) => row(m, n, ctx, later(m, data.newest))),
      empty(`No message ${NONE[status] || `is ${status}`}`, NONE[status] ? '' : 'Choose other messages above.')), pages(ctx, data.next))
  ];
}
