// One intent: what was asked, what was tried, and what can be done.

import { get, getText, post, query, seg, wasDone } from '../api.js';
import { h, id, card, facts, pill, table, empty, button, link, word } from '../dom.js';
import { bytes, count, duration, moment, ago } from '../format.js';
import { dialog, replayTone, replayWords, toast } from '../act.js';
import { heldBy } from '../words.js';
import { policy, retry } from './config.js';
import { tell } from './webhooks.js';

const PRETTY = 100000;      // bytes; more is shown as it is

let payload = { id: '' };   // what was asked for, of this intent alone

export async function load(ctx) {
  if (payload.id !== ctx.id) {
    payload = { id: ctx.id, raw: ctx.params.get('payload') === 'raw' };
  }
  const history = await get(`intents/${seg(ctx.id)}/history${query({ limit: 50, after: ctx.params.get('after') })}`);
  if (ctx.params.get('payload') && payload.text == null && !payload.problem) {
    await fetchPayload(ctx);
  }
  return history;
}

async function fetchPayload(ctx) {
  try {
    payload.text = await getText(`intents/${seg(ctx.id)}/payload`);
  } catch (problem) {
    payload.problem = problem;
  }
}

// somebody has acted: what comes of it is asked for a few times

function follow(ctx, times = 5, wait = 1000) {
  setTimeout(() => {
    if (location.hash.startsWith(`#/intents/${seg(ctx.id)}`)) {
      ctx.refresh();
      if (times > 1) {
        follow(ctx, times - 1, wait * 1.7);
      }
    }
  }, wait);
}

function cancel(i, ctx) {
  dialog('Cancel this intent?', [
    h('p', null, id(i.intentId)),
    h('p', null, 'It ends as canceled, and is never sent. If an attempt is at the gateway, nothing changes.')
  ], { text: 'Cancel the intent', tone: 'danger', run: async () => {
    await post(`intents/${seg(i.intentId)}/cancel`);
    ctx.refresh();
  } });
}

const links = (ids) => ids.map((one, n) => [n ? ', ' : '', link(`#/intents/${seg(one)}`, id(one))]);

// One that was replayed before is replayed again only if somebody says so, and
// under an id by which a second click finds the same replay.  The id is not one of
// those that the server makes by itself, "~2" and so on: a replay of a replay has it.

function replay(i, ctx, before = i.replayedAs || [], count = i.replayedCount || 0) {
  const again = before.length > 0;
  const old = { n: i.status === 'accepted' ? 1 : 0 };

  dialog(again ? 'Replay this intent again?' : 'Replay this intent?', [
    h('p', null, id(i.intentId)),
    again && h('p', null, h('strong', null, 'It was replayed before'), ', as ', links(before), '. Look at what became of that first.'),
    h('p', null, 'It becomes a new intent with the same target and payload, and is sent again. This one stays as it is.'),
    replayWords(1, old)
  ], { text: again ? 'Replay again' : 'Replay it', tone: again ? 'danger' : replayTone(old), run: async () => {
    let made;

    try {
      made = await post(`intents/${seg(i.intentId)}/replay`,
        again ? { again: true, intentId: `${i.intentId}~again-${count + 1}` } : {});
    } catch (problem) {
      if (problem.code !== 'already_replayed') {
        throw problem;
      }
      replay(i, ctx, problem.details.replayedAs || [`${i.intentId}~1`], problem.details.replayedCount || 1);
      return;
    }
    if (wasDone(made)) {
      toast('It was replayed before, as this one: nothing was sent now', 'warn');
    }
    location.hash = `#/intents/${seg(made.intentId)}`;
    follow({ ...ctx, id: made.intentId });
  } });
}

const span = (a) => (Date.parse(a.finishedAt) - Date.parse(a.startedAt)) / 1000;

function one(a, longest, ctx) {
  const s = span(a);
  const doubt = a.outcomeStatus === 'unknown';

  return h('li', { 'data-key': a.attemptNumber, class: doubt ? 'doubt' : '' },
    h('div', { class: 'row' }, h('strong', null, `Attempt ${a.attemptNumber}`), pill(a.outcomeStatus),
      a.outcomeReason && word(a.outcomeReason),
      a.leaseEpoch != null && h('span', { class: 'note' }, `epoch ${a.leaseEpoch}`)),
    h('div', { class: 'row' }, h('time', { datetime: a.startedAt }, moment(a.startedAt, ctx.now)),
      h('span', { class: 'note' }, `took ${s < 0.001 ? '< 1 ms' : duration(s)}`),
      h('span', { class: 'bar', 'aria-hidden': 'true' }, h('span', { style: { width: `${Math.max(2, s / longest * 100)}%` } }))),
    doubt && h('p', null, 'In doubt: the gateway may have carried it out. It knows by the Idempotency-Key.'),
    (a.error || a.httpStatus) && h('p', null, a.httpStatus && `HTTP ${a.httpStatus}`, a.httpStatus && a.error && a.error !== `HTTP ${a.httpStatus}` && ', ',
      a.error !== `HTTP ${a.httpStatus}` && h('bdi', null, a.error)),
    a.answer && h('pre', { class: 'answer' }, h('bdi', null, a.answer)));
}

const target = (i, ctx) => ctx.targets?.targets.find((t) => t.target === i.submissionTarget);

function timeline(data, ctx) {
  const i = data.intent;
  const longest = Math.max(...data.attempts.map(span), 0.001);

  return card('Timeline',
    h('ol', { class: 'timeline' },
      i.completedAt && !ctx.params.get('after') && h('li', { class: 'end', 'data-key': 'end' },
        h('div', { class: 'row' }, pill(i.status), h('span', null, moment(i.completedAt, ctx.now)),
          h('span', { class: 'note' }, `${duration((Date.parse(i.completedAt) - Date.parse(i.createdAt)) / 1000)} after it was submitted`))),
      i.inFlight && h('li', { 'data-key': 'flight' }, h('span', { class: 'pill note' }, 'in flight'), ' An attempt is at the gateway.'),
      i.nextAttemptAt && h('li', { 'data-key': 'next' }, Date.parse(i.nextAttemptAt) > ctx.now
        ? `Next attempt ${ago(i.nextAttemptAt, ctx.now)}, ${moment(i.nextAttemptAt, ctx.now)}` : 'The next attempt is due.',
        i.status === 'pending' && !i.inFlight && heldBy(target(i, ctx), ctx.overview, ctx.now),
        i.status === 'pending' && (i.lastError || i.lastReason) && h('p', { class: 'note' }, 'What held it up last: ',
          i.lastReason && [word(i.lastReason), i.lastError && ', '], i.lastError && h('bdi', null, i.lastError))),
      data.attempts.map((a) => one(a, longest, ctx)),
      !data.next && h('li', { class: 'end', 'data-key': 'begin' }, h('div', { class: 'row' }, h('strong', null, 'Submitted'), h('span', null, moment(i.createdAt, ctx.now))))),
    !data.attempts.length && h('p', { class: 'note' }, i.stripped ? 'Its attempts are not kept any more.' : 'There has been no attempt yet.'),
    h('div', { class: 'row pages' },
      ctx.params.get('after') && button('Newest', () => ctx.go({ after: '' })),
      data.next && button('Older attempts', () => ctx.go({ after: data.next }))));
}

// only the newest message of each webhook can be sent again

function hooks(i, all, ctx) {
  const list = [...all || []].sort((a, b) => (a.webhook !== b.webhook ? (a.webhook < b.webhook ? -1 : 1) : a.createdAt < b.createdAt ? 1 : -1));

  return list.length > 0 && card('Webhooks', table('Webhooks',
    [['Webhook'], ['Status'], ['Attempts', 'num'], ['When', 'num'], ['Last error'], ['Message', 'plain'], ...(ctx.may ? [['']] : [])],
    list.map((w, n) => ({ key: `${w.messageId}-${n}`, cells: [
      h('bdi', null, w.webhook), pill(w.status, { accepted: 'delivered', exhausted: 'given up' }[w.status]), count(w.attemptCount),
      w.nextAttemptAt ? `next ${ago(w.nextAttemptAt, ctx.now)}` : ago(w.completedAt || w.createdAt, ctx.now),
      w.lastError ? h('bdi', null, w.lastError) : '', h('code', { class: 'id whole', title: w.messageId }, w.messageId),
      ...(ctx.may ? [w.status === 'pending' || list[n - 1]?.webhook === w.webhook ? '' : h('div', { class: 'acts' }, button('Send again', async () => {
        await tell(w.webhook, i.intentId);
        follow(ctx, 3);
      }, { class: 'small', 'aria-label': `Tell ${w.webhook} again` }))] : [])] }))));
}

function pretty(text) {
  if (payload.raw || text.length > PRETTY) {
    return text;
  }
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function body(ctx) {
  if (!ctx.config.payloads) {
    return card('Payload', h('p', { class: 'note' }, 'Payloads are not shown here, nor are the answers of gateways: that needs payloads=on, or access=operate.'));
  }
  if (payload.problem) {
    return card('Payload', h('p', null, payload.problem.message));
  }
  if (payload.text == null) {
    return card('Payload', h('p', null, 'It may have personal data. ',
      button('Show the payload', async () => {
        await fetchPayload(ctx);
        ctx.draw();
      })));
  }
  return card('Payload',
    h('div', { class: 'row' }, h('span', { class: 'note' }, bytes(new Blob([payload.text]).size)),
      button(payload.raw ? 'Pretty' : 'Raw', () => { payload.raw = !payload.raw; ctx.draw(); },
             { class: 'small', 'aria-pressed': String(Boolean(payload.raw)) })),
    h('pre', { tabindex: '0', 'aria-label': 'Payload' }, pretty(payload.text)));
}

function contract(i, ctx) {
  const t = ctx.config.targets.find((one_) => one_.target === i.submissionTarget);

  return card('Contract of the target today', t
    ? facts([
      ['Gateway', [`${t.gatewayType} `, word(t.gatewayUrl)]],
      ['Policy', policy(t)],
      ['Retry after', retry(t)],
      ['Final rejections', t.terminalOutcomes]])
    : empty('Its target is not configured any more', 'A replay needs "contract":"original", through the API.'));
}

export function view(data, ctx) {
  const i = data.intent;
  const reason = i.rejectedReason || i.exhaustedReason || i.lastReason;

  return [
    h('p', { class: 'crumb' }, link('#/intents', 'Intents')),
    h('h1', null, id(i.intentId)),
    h('div', { class: 'row head' }, pill(i.status), i.inFlight && h('span', { class: 'pill note' }, 'in flight'),
      ctx.may && i.status === 'pending' && button('Cancel…', () => cancel(i, ctx), { class: 'danger small' }),
      ctx.may && i.status !== 'pending' && !i.stripped && button('Replay…', () => replay(i, ctx), { class: i.status === 'accepted' || i.replayedAs?.length ? 'small' : 'primary small' })),
    h('div', { class: 'grid' },
      card('Intent', facts([
        ['Target', link(`#/intents${query({ target: i.submissionTarget })}`, h('bdi', null, i.submissionTarget))],
        ['Submitted', `${moment(i.createdAt, ctx.now)} (${ago(i.createdAt, ctx.now)})`],
        ['Not before', i.notBefore && moment(i.notBefore, ctx.now)],
        ['Ended', i.completedAt && `${moment(i.completedAt, ctx.now)} (${ago(i.completedAt, ctx.now)})`],
        ['Attempts', count(i.attemptCount)],
        ['Reason', reason && word(reason)],
        ['Last error', i.lastError && h('bdi', null, i.lastError)],
        ['Replay of', i.replayOf && link(`#/intents/${seg(i.replayOf)}`, id(i.replayOf))],
        ['Replayed as', i.replayedAs?.length > 0 && links(i.replayedAs)],
        ['Trace', i.traceId && h('code', null, i.traceId)],
        ['Payload', i.stripped ? 'not kept any more' : null]])),
      contract(i, ctx)),
    timeline(data, ctx),
    hooks(i, data.webhooks, ctx),
    body(ctx)
  ];
}
