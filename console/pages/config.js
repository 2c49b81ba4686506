// What this instance runs with.

import { h, card, facts, table } from '../dom.js';
import { bytes, count, duration, millis } from '../format.js';

export const load = (ctx) => Promise.resolve(ctx.config);

const yes = (on) => (on ? 'on' : 'off');
const kept = (seconds) => (seconds ? duration(seconds) : 'for ever');

export const policy = (t) => (t.policy === 'deadline' ? `deadline ${duration(t.deadlineSeconds)}`
  : t.policy === 'max_attempts' ? `up to ${t.maxAttempts} attempts` : 'one attempt only');

export const retry = (t) => (t.retryScheduleMs ? t.retryScheduleMs.split(' ').map(Number).map(millis).join(', ') : [millis(t.retryDelayMs),
  t.retryBackoffPercent > 100 && `, × ${t.retryBackoffPercent / 100} each time`,
  t.retryMaxMs ? `, at most ${millis(t.retryMaxMs)}` : '',
  t.retryJitterPercent ? `, up to ${t.retryJitterPercent} % less at random` : '']);

const limits = (t) => [t.concurrency && `${count(t.concurrency)} at a time`,
  t.ratePerMinute && `${t.ratePerMinute % 60 ? `${t.ratePerMinute}/min` : `${t.ratePerMinute / 60}/s`}, burst ${t.burst}`,
  t.circuitFailures && `circuit after ${t.circuitFailures} errors, open ${t.circuitOpenMs / 1000} s`].filter(Boolean).join('; ') || '–';

export const view = (c) => [
  h('h1', null, 'Configuration'),
  h('p', { class: 'note' }, 'Of the instance that answered. Passwords, connection strings and paths are not part of it.'),
  h('div', { class: 'grid' },
    card('Instance', facts([['Instance', h('bdi', { class: 'id' }, c.instance)], ['Manager', c.manager],
      ['Module', c.version], ['nginx', c.nginx], ['Shared memory', bytes(c.zoneBytes)]])),
    card('You', facts([['Level', c.access], ['Payloads', c.payloads ? 'shown' : 'not shown'],
      ['You are', h('bdi', null, c.actor || 'not known by name')]])),
    card('Store', facts([['Kind', c.store.kind], ['Connections', c.store.connections ? count(c.store.connections) : null],
      ['Time-out of a call', c.store.queryTimeoutMs ? millis(c.store.queryTimeoutMs) : null],
      ['Tried again for', c.store.retryMs ? millis(c.store.retryMs) : null]])),
    card('Lease', facts([['Name', c.lease.name], ['Lasts', millis(c.lease.durationMs)], ['Renewed every', millis(c.lease.renewIntervalMs)],
      ['Asked for every', millis(c.lease.acquireIntervalMs)], ['Queue read every', millis(c.lease.refreshIntervalMs)],
      ['Released at exit', yes(c.lease.releaseOnExit)], ['Wakes', yes(c.lease.wakes)]])),
    card('Executor', facts([['Executor', yes(c.executor.on)], ['Attempts at a time', count(c.executor.concurrency)], ['Batch', count(c.executor.batch)]])),
    card('Intake', facts([['May wait in a worker', count(c.intake.queue)], ['Batch', count(c.intake.batch)], ['Largest of the inbox', bytes(c.intake.inboxMaxPayload)]]))),
  ...[['Targets', 'Target', false], ['Webhooks', 'Webhook', true]].map(([title, what, hook]) => {
    const list = c.targets.filter((t) => (t.gatewayType === 'webhook') === hook).sort((a, b) => (a.target < b.target ? -1 : 1));

    return list.length > 0 && card(title, table(title, [[what, 'name'], [hook ? 'Address' : 'Gateway'], ['Policy', 'why'], ['Retry', 'line'], ['Limits'],
      ...(hook ? [] : [['Final rejections']])],
      list.map((t) => ({ key: t.target, cells: [h('bdi', { class: 'id strong' }, t.target),
        h('span', { class: 'id' }, hook ? t.gatewayUrl : `${t.gatewayType} ${t.gatewayUrl}`),
        policy(t), retry(t), limits(t), ...(hook ? [] : [t.terminalOutcomes || '–'])] }))));
  }),
  card('Retention', table('Retention', [['Ended as'], ['Payload and attempts', 'num'], ['All of it', 'num']],
    ['accepted', 'rejected', 'exhausted', 'canceled'].map((s) => ({ key: s,
      cells: [s, kept(c.retention[s].stripSeconds), kept(c.retention[s].forgetSeconds)] }))))
];
