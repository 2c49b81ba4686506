// The frame around the pages: routes, the rounds of questions, keys, banners.
//
// The address is the state: "#/intents?status=rejected".  A round asks for the
// overview, which comes from memory and costs the store nothing, and for the
// page's own data if the page is "live".  Pages that ask the store do so when
// somebody asks for them, not by themselves.

import { get, advice, told, Problem } from './api.js';
import { h, $, show, link, pill, button, empty } from './dom.js';
import { clock, duration } from './format.js';
import { dialog, closeDialog } from './act.js';
import * as overview from './pages/overview.js';
import * as targets from './pages/targets.js';
import * as intents from './pages/intents.js';
import * as intent from './pages/intent.js';
import * as failures from './pages/failures.js';
import * as schedules from './pages/schedules.js';
import * as audit from './pages/audit.js';
import * as config from './pages/config.js';

const PAGES = [
  ['overview', 'Overview', 'o', overview], ['targets', 'Targets', 't', targets],
  ['intents', 'Intents', 'i', intents], ['failures', 'Failures', 'f', failures],
  ['schedules', 'Schedules', 's', schedules], ['audit', 'Audit', 'a', audit],
  ['config', 'Configuration', 'c', config]
];

const FAST = 2000;
const SLOW = 4000;          // when nothing has changed for a while
const CALM = 10;            // rounds
const OLD = 15;             // seconds, of the leader's numbers
const SKEW = 5000;          // ms, of this page's clock

const state = {
  config: null, overview: null, targets: null, route: null, lost: 0, paused: false,
  page: null, name: '', data: null, trouble: null, loaded: 0, round: 0, calm: 0
};

// routes

function route() {
  const [path, search] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [name, ...rest] = path.split('/');
  const found = PAGES.find(([page]) => page === name) || PAGES[0];
  const one = found[0] === 'intents' && rest[0];

  return {
    name: found[0], title: found[1], module: one ? intent : found[3],
    id: one ? decode(rest.join('/')) : '',
    params: new URLSearchParams(search || '')
  };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function go(changes, replace) {
  const params = new URLSearchParams(state.route.params);

  for (const [name, value] of Object.entries(changes)) {
    params.delete(name);
    for (const one of [value].flat()) {
      if (one != null && one !== '') {
        params.append(name, one);
      }
    }
  }

  const path = location.hash.replace(/\?.*/s, '') || '#/overview';
  const text = params.toString();
  const hash = text ? `${path}?${text}` : path;

  if (replace) {
    history.replaceState(null, '', hash);
    state.route = route();
    draw();
  } else if (hash === location.hash) {
    refresh(true);
  } else {
    location.hash = hash;
  }
}

const now = () => Date.now() + told.skew;

const context = () => ({
  params: state.route.params, id: state.route.id, config: state.config,
  overview: state.overview, targets: state.targets, now: now(), go, draw, loaded: state.loaded,
  may: state.config?.access === 'operate', refresh: () => refresh(true)
});

// rounds

async function ask(force) {
  if (!state.config || force) {
    state.config = await get('config');
  }
  [state.overview, state.targets] = await Promise.all([get('overview'), get('targets')]);
  if (force || state.page.live || !state.loaded) {
    state.data = await state.page.load(context());
    state.trouble = null;
    state.loaded = Date.now();
  }
}

let timer;

async function refresh(force) {
  clearTimeout(timer);

  const round = ++state.round;
  const page = state.page;

  told.changed = false;

  try {
    await ask(force);
    state.lost = 0;
  } catch (problem) {
    if (round === state.round) {
      plan();
      failed(problem);
    }
  }

  if (round !== state.round || page !== state.page) {
    return;
  }

  state.calm = told.changed ? 0 : state.calm + 1;

  // a mistake of a page is told to the developer's console, and the next round
  // may be better

  try {
    draw();
  } finally {
    plan();
  }
}

function failed(problem) {
  if (!(problem instanceof Problem)) {
    throw problem;
  }
  if (problem.lost) {
    state.lost = state.lost || Date.now();
  } else {
    state.lost = 0;
    state.trouble = problem;
  }
}

function plan() {
  clearTimeout(timer);
  if (!document.hidden && !state.paused) {
    timer = setTimeout(refresh, state.calm < CALM ? FAST : SLOW);
  }
}

function arrive() {
  const there = route();
  const same = state.route && state.route.module === there.module
               && state.route.id === there.id;

  state.route = there;
  state.page = there.module;

  if (!same) {
    state.data = null;
    show($('main'), h('p', { class: 'loading' }, 'Loading…'));
    scrollTo(0, 0);
  }

  state.trouble = null;
  state.loaded = 0;
  closeDialog();
  frame();
  refresh(true);
}

// what is seen

function banners() {
  const list = [];
  const o = state.overview;
  const add = (key, tone, ...text) =>
    list.push(h('div', { class: `banner ${tone}`, 'data-key': key }, text));

  if (state.lost) {
    add('lost', 'bad', h('strong', null, 'No connection. '),
        `What is shown is as of ${told.heard ? clock(told.heard) : 'never'}, `,
        `${duration((Date.now() - told.heard) / 1000)} ago. Asking again.`);
    return list;
  }
  if (state.paused) {
    add('paused', 'note', 'This page is paused. ', button('Go on (p)', pause));
  }
  if (!o) {
    return list;
  }
  if (!o.store.up) {
    add('store', 'bad', h('strong', null, 'The store is down. '),
        'Nothing can be taken or sent until it is back; nothing that was taken is lost.');
  } else if (o.store.breaker && o.store.breaker !== 'closed') {
    add('breaker', 'warn', h('strong', null, 'The breaker is open. '),
        'Requests are refused at once, because the store kept failing.');
  }
  if (!o.leader) {
    add('leader', 'bad', h('strong', null, 'Nobody leads. '),
        'Intents are taken, but nothing is sent until an instance has the lease.');
  }
  if (o.statsAgeSeconds > OLD) {
    add('old', 'warn', h('strong', null, 'Old numbers. '),
        `The leader last reported ${duration(o.statsAgeSeconds)} ago.`);
  }
  if (Math.abs(told.skew) > SKEW) {
    add('clock', 'warn', h('strong', null, 'This clock is off '),
        `by ${duration(Math.abs(told.skew) / 1000)}, compared with the server's.`);
  }
  for (const t of [...state.targets?.targets || [], ...state.targets?.webhooks || []]) {
    if (t.state === 'open') {
      continue;
    }
    add(`t-${t.target}`, t.state === 'paused' ? 'warn' : 'bad',
        link('#/targets', h('bdi', null, t.target)),
        t.state === 'paused' ? ' is paused. ' : ': the circuit is open. ',
        t.pause?.reason && h('bdi', null, `“${t.pause.reason}”`));
  }
  return list;
}

function frame() {
  const o = state.overview;

  document.title = `${state.route.id || state.route.title} · Submissions`;

  show($('nav'), PAGES.map(([name, title, key]) =>
    h('a', { href: `#/${name}`, title: `g ${key}`,
             'aria-current': name === state.route.name && 'page' }, title)));

  show($('who'), o && [h('bdi', null, o.instance), ' ', pill(o.role)]);

  const live = $('live');
  const text = state.lost ? 'no connection' : state.paused ? 'paused'
    : !told.heard ? 'connecting' : `live · ${clock(told.heard)}`;

  live.className = `live ${state.lost ? 'bad' : state.paused ? 'warn' : 'good'}`;
  live.title = 'Pause, or go on (p)';
  live.setAttribute('aria-pressed', String(state.paused));
  show(live, text);

  document.body.classList.toggle('stale', Boolean(state.lost));
  show($('banners'), banners());
  show($('foot'), state.config && [
    `version ${state.config.version} · ${state.config.manager} · `,
    state.config.access === 'operate' ? 'access: operate' : 'access: read only',
    state.config.actor && [' · ', h('bdi', null, state.config.actor)],
    ' · keys: ', h('kbd', null, '?')]);
}

function trouble() {
  const p = state.trouble;

  return h('div', { class: 'trouble', role: 'alert' },
    h('p', null, h('strong', null, p.absent ? 'Not offered here' : p.message[0].toUpperCase() + p.message.slice(1)),
      p.status ? ` (${p.status}${p.code && p.code !== 'http' ? `, ${p.code}` : ''})` : ''),
    h('p', null, advice(p, true)),
    button('Try again (r)', () => refresh(true)));
}

function draw() {
  frame();

  // a page that does not ask by itself says so where one looks first

  const asked = state.loaded > 0 && !state.page.live
    && h('p', { class: 'asof' }, `As of ${clock(state.loaded)} `,
         button('Refresh (r)', () => refresh(true), { class: 'small' }));

  if (state.trouble || state.data) {
    show($('main'), h('div', { 'data-key': state.route.name + state.route.id },
      asked, !state.data && h('h1', null, h('bdi', null, state.route.id || state.route.title)),
      state.trouble && trouble(),
      state.data && state.page.view(state.data, context())));
    state.page.after?.(state.data, context());
  } else if (state.lost) {
    show($('main'), empty('No answer yet', 'It is asked again every few seconds.'));
  }
}

// keys, and the buttons of the frame

function pause() {
  state.paused = !state.paused;
  state.paused ? (frame(), plan()) : refresh();
}

const THEMES = ['system', 'light', 'dark'];

function theme(step) {
  const root = document.documentElement;
  const at = (THEMES.indexOf(root.dataset.theme) + step) % 3;

  root.dataset.theme = THEMES[at];
  try {
    localStorage.setItem('submission-theme', THEMES[at]);
  } catch { /* it is not kept, then */ }

  const b = $('theme');
  b.textContent = ['◐', '☀', '☾'][at];
  b.title = `Colours: ${THEMES[at]} (d)`;
  b.setAttribute('aria-label', b.title);
  if (step) {
    state.page.repaint?.();
  }
}

function help() {
  const keys = [['/', 'search for intents'],
    ...PAGES.map(([, title, key]) => [`g ${key}`, title]),
    ['r', 'refresh'], ['p', 'pause, or go on'], ['d', 'colours'],
    ['?', 'this help'], ['Esc', 'close']];

  dialog('Keys', [
    h('dl', { class: 'keys' }, keys.map(([key, what]) =>
      h('div', null, h('dt', null, h('kbd', null, key)), h('dd', null, what)))),
    h('p', null, 'The address has all that is shown: send it to a colleague.')]);
}

let went = 0;

function key(event) {
  const field = event.target.closest?.('input, select, textarea');

  if (event.ctrlKey || event.metaKey || event.altKey || field
      || document.querySelector('dialog[open]')) {
    if (event.key === 'Escape' && field) {
      field.blur();
    }
    return;
  }

  const second = went && event.timeStamp - went < 1500;

  went = 0;

  if (second) {
    const page = PAGES.find(([, , letter]) => letter === event.key);
    if (page) {
      location.hash = `#/${page[0]}`;
    }
    return;
  }

  const act = {
    g: () => { went = event.timeStamp; },
    r: () => refresh(true),
    p: pause,
    d: () => theme(1),
    '?': help,
    '/': search
  }[event.key];

  if (act) {
    event.preventDefault();
    act();
  }
}

function search() {
  if ($('search')) {
    $('search').focus();
    $('search').select();
  } else {
    location.hash = '#/intents?find=1';
  }
}

// its address would be taken for a page

document.querySelector('.skip').onclick = (event) => {
  event.preventDefault();
  $('main').focus();
};

$('live').onclick = pause;
$('theme').onclick = () => theme(1);
$('help').onclick = help;
addEventListener('hashchange', arrive);
addEventListener('keydown', key);
document.addEventListener('visibilitychange', () => {
  document.hidden ? clearTimeout(timer) : refresh();
});

// ages go on while nothing is heard

setInterval(() => {
  if (state.lost) {
    frame();
  }
}, 1000);

theme(0);
arrive();
