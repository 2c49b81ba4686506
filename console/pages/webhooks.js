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

export const load = async (ctx) => (chosen(ctx) ? get(`webhooks/${seg(chosen(ctx))}/messages${query({
  status: ctx.params.get('status'), limit: 50, after: ctx.params.get('after') })}`) : { messages: [], next: null });

async function resend(m, ctx) {
  await attempt(post(`intents/${seg(m.intentId)}/webhooks/resend`, { webhook: m.webhook }), `${m.webhook} is told again`);
  ctx.refresh();
}

const row = (m, n, ctx) => ({ key: `${m.messageId}-${m.createdAt}-${n}`, labels: { [ENDED]: m.completedAt ? 'Ended' : 'Next' }, cells: [
  link(`#/intents/${seg(m.intentId)}`, id(m.intentId), 'strong'),
  pill(m.status, m.status === 'accepted' ? 'delivered' : m.status === 'exhausted' ? 'given up' : ''),
  count(m.attemptCount), time(m.createdAt, ctx.now),
  next(m, ctx.now) || time(m.completedAt, ctx.now),
  m.lastError ? h('bdi', null, m.lastError) : '', h('code', { class: 'id whole', title: m.messageId }, m.messageId),
  ...(ctx.may ? [m.status === 'pending' ? '' : h('div', { class: 'acts' }, button('Send again', () => resend(m, ctx),
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
      data.messages.map((m, n) => row(m, n, ctx)),
      empty(`No message ${NONE[status] || `is ${status}`}`, NONE[status] ? '' : 'Choose other messages above.')), pages(ctx, data.next))
  ];
}
