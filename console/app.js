// The frame around the pages: routes, the rounds of questions, keys, banners.
//
// The address is the state: "#/intents?status=rejected".  A round asks for the
// overview, which comes from memory and costs the store nothing, and for the
// page's own data if the page is "live".  Pages that ask the store do so when
// somebody asks for them, not by themselves.

import { get, advice, told, Problem } from './api.js';
import { now, wrongClock } from './clock.js';
import { h, $, show, link, pill, button, empty, tone as toneOf } from './dom.js';
import { clock, duration, millis } from './format.js';
import { dialog, closeDialog } from './act.js';
import { illness, illnessRank, illnessSays, ledWords, sentence, storeState, storeWords } from './words.js';
import * as overview from './pages/overview.js';
import * as targets from './pages/targets.js';
import * as intents from './pages/intents.js';
import * as intent from './pages/intent.js';
import * as failures from './pages/failures.js';
import * as jobs from './pages/jobs.js';
import * as webhooks from './pages/webhooks.js';
import * as schedules from './pages/schedules.js';
import * as events from './pages/events.js';
import * as audit from './pages/audit.js';
import * as config from './pages/config.js';

const PAGES = [
  ['overview', 'Overview', 'o', overview], ['targets', 'Targets', 't', targets],
  ['intents', 'Intents', 'i', intents], ['failures', 'Failures', 'f', failures],
  ['jobs', 'Jobs', 'j', jobs], ['webhooks', 'Webhooks', 'w', webhooks],
  ['schedules', 'Schedules', 's', schedules],
  ['events', 'Events', 'e', events], ['audit', 'Audit', 'a', audit],
  ['config', 'Configuration', 'c', config]
];

const FAST = 2000;
const SLOW = 4000;          // when nothing has changed for a while
const CALM = 10;            // rounds
const OLD = 15;             // seconds, of the leader's numbers
const FEW = 2;              // targets that have a banner each

const state = {
  config: null, overview: null, targets: null, route: null, lost: null, paused: false, led: null,
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

const context = () => ({
  params: state.route.params, id: state.route.id, config: state.config,
  overview: state.overview, targets: state.targets, now: now(), go, draw, loaded: state.loaded, led: state.led,
  may: state.config?.access === 'operate', refresh: () => refresh(true)
});

// rounds

// what comes from memory is shown as far as it comes: the targets may need the store

async function views(force) {
  const names = ['config', 'overview', 'targets'];
  const answers = await Promise.allSettled(names.map((name) =>
    (name === 'config' && state.config && !force ? state.config : get(name))));

  answers.forEach(({ value }, i) => { state[names[i]] = value || state[names[i]]; });

  const failure = answers.find(({ reason }, i) => reason && (i < 2 || !(reason instanceof Problem)));

  if (failure) {
    throw failure.reason;
  }
}

async function ask(force) {
  await views(force);
  if (state.overview.leader) {
    state.led = { holder: state.overview.leader.holder, until: now() - (state.overview.leader.heardAgeMs || 0) };
  }
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
    state.lost = null;
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
  state.lost = problem.lost ? problem : null;
  if (!problem.lost) {
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

// each is a line of its own, over the whole width; more of them (the configuration of
// instances, for example) are further lines here

function banners() {
  const list = [];
  const o = state.overview;
  const add = (key, tone, ...text) =>
    list.push(h('div', { class: `banner ${tone}`, 'data-key': key }, text));

  if (state.lost) {
    add('lost', 'bad', h('strong', null, 'No connection to this instance. '), `${state.lost.message} `,
        told.heard ? `What is shown is as of ${clock(told.heard)}, ${duration((Date.now() - told.heard) / 1000)} ago. `
          : 'Nothing is known yet. ',
        'It is asked again every few seconds.');
    return list;
  }
  if (state.paused) {
    add('paused', 'note', 'This page is paused. ', button('Go on (p)', pause));
  }
  if (!o) {
    return list;
  }
  if (storeState(o) !== 'up') {
    add('store', 'bad', storeWords(o, now(), state.led));
  } else if (o.store.breaker && o.store.breaker !== 'closed') {
    add('breaker', 'warn', h('strong', null, 'The store kept failing. '),
        'Requests are refused at once for now, so that it can recover.');
  } else if (!o.leader) {
    add('leader', 'bad', h('strong', null, 'Nobody leads. '), ledWords(o, state.led),
        'Intents are accepted, but nothing is sent until an instance has the lease.');
  } else if (o.leader.silent) {
    add('silent', 'bad', h('strong', null, 'The leader is silent. '), h('bdi', null, o.leader.holder),
        ` has not been heard of for ${millis(o.leader.heardAgeMs)}; its lease ends at ${clock(now() + o.leader.leaseRemainingMs)}. `,
        'If it is dead, another instance leads then, and nothing is sent before.');
  }
  if (o.statsAgeSeconds > OLD && storeState(o) === 'up') {
    add('old', 'warn', h('strong', null, 'Old numbers. '),
        `The leader last reported ${duration(o.statsAgeSeconds)} ago.`);
  }
  if (o.configuration && !o.configuration.same) {
    add('configuration', 'note', h('strong', null, 'The instances differ. '),
        `Their configurations are not the same: ${o.configuration.differs.join(', ')}. `,
        'That is normal while they are reloaded one after the other.');
  }
  for (const i of o.instances.filter((one) => one.holderIdShared)) {
    add(`shared-${i.id}`, 'warn', h('strong', null, 'One name for two instances. '),
        'More than one instance has the holder_id ', h('bdi', null, i.id),
        ': give each its own.');
  }
  const wrong = wrongClock(o.store.kind, o.instance);
  if (wrong) {
    add('clock', 'warn', h('strong', null, wrong[0]), wrong[1]);
  }
  if (state.route.name !== 'overview') {
    ill(add);
  }
  return list;
}

// the overview says more of them than a banner can

function ill(add) {
  const list = [...state.targets?.targets || [], ...state.targets?.webhooks || []]
    .filter((t) => illness(t).length).sort((a, b) => illnessRank(a) - illnessRank(b));

  if (list.length > FEW) {
    add('ill', toneOf(illness(list[0])[0]), link('#/overview', `${list.length} targets need attention`), ': ',
        list.slice(0, 5).map((t, i) => [i ? ', ' : '', h('bdi', null, t.target), ` ${illnessSays(t)}`]),
        list.length > 5 ? `, and ${list.length - 5} more.` : '.');
    return;
  }
  for (const t of list) {
    const why = t.health?.why ? sentence(t.health.why) : t.state === 'paused' ? '' : t.lastError?.detail;

    add(`t-${t.target}`, toneOf(illness(t)[0]),
        link('#/overview', h('bdi', null, t.target)), ` ${illnessSays(t)}. `,
        why && h('bdi', null, why), t.pause?.reason && [' ', h('bdi', null, `“${t.pause.reason}”`)]);
  }
}

// "live" is what it is only if numbers can be new

function connection() {
  const o = state.overview;

  return state.lost ? ['bad', 'no connection'] : state.paused ? ['warn', 'paused']
    : !told.heard || !o ? ['warn', 'connecting']
    : storeState(o) !== 'up' ? ['bad', `store ${storeState(o)} · ${clock(told.heard)}`]
    : !o.leader ? ['bad', `no leader · ${clock(told.heard)}`]
    : o.leader.silent ? ['bad', `leader silent · ${clock(told.heard)}`] : ['good', `live · ${clock(told.heard)}`];
}

function frame() {
  const o = state.overview;

  document.title = `${state.route.id || state.route.title} · Submissions`;

  show($('nav'), PAGES.map(([name, title, key]) =>
    h('a', { href: `#/${name}`, title: `g ${key}`,
             'aria-current': name === state.route.name && 'page' }, title)));

  const sure = o && !state.lost && storeState(o) === 'up';

  show($('who'), o && [h('bdi', null, o.instance), ' ', sure && pill(o.role)]);

  const live = $('live');
  const [tone, text] = connection();

  live.className = `live ${tone}`;
  live.title = 'Pause, or go on (p)';
  live.setAttribute('aria-pressed', String(state.paused));
  show(live, text);

  document.body.classList.toggle('stale', Boolean(state.lost && state.data));
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
    show($('main'), h('h1', null, state.route.title),
      empty('Nothing can be shown yet', 'This instance has not answered since the page was opened. It is asked again every few seconds.'));
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
