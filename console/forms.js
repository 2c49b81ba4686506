// Forms that make something: a test intent, a schedule.

import { getText, post, seg } from './api.js';
import { h, choice, field, show } from './dom.js';
import { local, second } from './format.js';
import { dialog } from './act.js';
import { targetNames } from './words.js';

const PAUSE = 400;          // ms without a key, before the times are asked for
const WAIT = 5;             // seconds, for the first attempt of a test

const value = (name) => document.getElementById(name).value.trim();

const area = (name, text) => h('textarea', { id: name, rows: 5, spellcheck: 'false', value: text });

// the payload goes as it was typed; that it is JSON is seen before it is sent

function withPayload(fields, text) {
  if (text) {
    try {
      JSON.parse(text);
    } catch (error) {
      throw new Error(`The payload is not JSON: ${error.message}.`);
    }
  }
  return `${JSON.stringify(fields).slice(0, -1)}${text ? `,"payload":${text}` : ''}}`;
}

export function submit(ctx, target) {
  dialog('Submit a test intent', [
    h('p', null, 'It is an intent like any other: the gateway gets it, and acts on it.'),
    field('Target', choice('test-target', targetNames(ctx), target || targetNames(ctx)[0]?.[0] || '')),
    field('Id', h('input', { id: 'test-id', maxlength: 200, value: `test-${Date.now().toString(36)}`, autocomplete: 'off' })),
    field('Payload, JSON; it may be empty', area('test-payload', '{"test": true}'))
  ], { text: 'Submit it', run: async () => {
    const name = value('test-id');
    await post(`intents?waitSeconds=${WAIT}&until=attempt`, withPayload({ intentId: name, submissionTarget: value('test-target') }, value('test-payload')));
    location.hash = `#/intents/${seg(name)}`;
  } });
}

// a schedule

const MISFIRE = [['once', 'only the latest of them'], ['skip', 'none'], ['all', 'all of them']];
const OVERLAP = [['skip', 'leave it out'], ['allow', 'submit it nevertheless']];
const WHEN = [['every', 'at an interval'], ['cron', 'by a cron line']];

const instant = (text) => (text ? new Date(text).toISOString().replace(/\.\d+Z$/, 'Z') : undefined);

function rule() {
  const kind = value('s-when');

  return { [kind]: value('s-rule'), ...(kind === 'cron' && value('s-zone') ? { timeZone: value('s-zone') } : {}),
           startAt: instant(value('s-start')), endAt: instant(value('s-end')), misfire: value('s-misfire'), overlap: value('s-overlap') };
}

// short: the day is that of here, or the one before or after

const there = (at, timeZone) => new Date(at).toLocaleString('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit' });

// the times as the server would plan them

async function preview(into, name) {
  const asked = rule();

  if (!asked.every && !asked.cron) {
    show(into, 'Enter when it runs to see the next five times.');
    return;
  }
  try {
    const { times } = await post(`schedules/${seg(name || value('s-id') || 'new')}/preview`, { submissionTarget: value('s-target'), ...asked });
    const zone = asked.timeZone !== 'UTC' && asked.timeZone;
    show(into, h('strong', null, times.length ? 'It would run next' : 'It would never run'), times.length > 0 && zone && `, here and in ${zone}`,
      h('ol', null, times.map((at) => h('li', null, second(at).replace(/:00$/, ''), zone && h('span', { class: 'note' }, ` · ${there(at, zone)}`)))));
  } catch (problem) {
    show(into, h('strong', { class: 'wrong' }, problem.message));
  }
}

// the payload as it is stored, byte for byte: it is the last key of the answer

const PAYLOAD = '"payload":';

function stored(text) {
  const at = text.indexOf(PAYLOAD);
  return at < 0 ? '' : text.slice(at + PAYLOAD.length, text.lastIndexOf('}'));
}

export async function schedule(ctx, old) {
  const text = old ? await getText(`schedules/${seg(old.id)}`) : '';
  const s = old ? JSON.parse(text) : { misfire: 'once', overlap: 'skip' };
  const times = h('div', { class: 'preview', role: 'status' });
  let timer;

  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => el.open && preview(times, old?.id), PAUSE);
  };
  const input = (name, of, props) => h('input', { id: name, value: of || '', autocomplete: 'off', spellcheck: 'false', ...props });

  const el = dialog(old ? `Edit ${old.id}` : 'Create a schedule', [
    !old && field('Id', input('s-id', '', { maxlength: 178, autofocus: true })),
    field('Target', choice('s-target', targetNames(ctx), s.submissionTarget || targetNames(ctx)[0]?.[0] || '')),
    h('div', { class: 'pair' }, field('It runs', choice('s-when', WHEN, s.cron ? 'cron' : 'every')),
      field('When', input('s-rule', s.cron || s.every), 'PT15M is every 15 minutes; 30 2 * * mon-fri is at 2:30 on weekdays')),
    field('Time zone of a cron line', input('s-zone', s.timeZone, { placeholder: 'UTC' })),
    times,
    h('div', { class: 'pair' }, field('Not before', input('s-start', local(s.startAt), { type: 'datetime-local', step: 1 })),
      field('Not after', input('s-end', local(s.endAt), { type: 'datetime-local', step: 1 }))),
    h('div', { class: 'pair' }, field('Times that were missed', choice('s-misfire', MISFIRE, s.misfire)),
      field('While the last one has not ended', choice('s-overlap', OVERLAP, s.overlap))),
    field('Payload, JSON; it may be empty', area('s-payload', stored(text)))
  ], { text: old ? 'Save' : 'Create', run: async () => {
    const name = old ? old.id : value('s-id');
    if (!name) {
      throw new Error('A schedule needs an id.');
    }
    await post(`schedules/${seg(name)}`, withPayload({ submissionTarget: value('s-target'), ...rule() }, value('s-payload')),
               'PUT', old ? { 'If-Match': `"${s.etag}"` } : { 'If-None-Match': '*' });
    ctx.refresh();
  } });

  el.oninput = later;
  preview(times, old?.id);
}
