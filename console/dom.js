// Elements, and how a page becomes the next one.
//
// A page is made anew for each answer, and then compared with what is there:
// what has not changed stays, with its focus, its selection and what is open.
// Text is always text; nothing here reads HTML.

import { ago, count, full, moment } from './format.js';

const EVENTS = ['onclick', 'onchange', 'oninput', 'onsubmit', 'ontoggle'];

function put(el, kids) {
  for (const kid of kids.flat(Infinity)) {
    if (kid != null && kid !== false && kid !== '') {
      el.append(kid instanceof Node ? kid : String(kid));
    }
  }
  return el;
}

function make(el, props, kids) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value == null || value === false) {
      continue;
    }
    if (name.startsWith('on') || name === 'value' || name === 'checked'
        || name === 'indeterminate') {
      el[name] = value;
    } else if (name === 'style') {
      Object.assign(el.style, value);
    } else {
      el.setAttribute(name, value === true ? '' : value);
    }
  }
  return put(el, kids);
}

export function h(tag, props, ...kids) {
  return make(document.createElement(tag), props, kids);
}

export function svg(tag, props, ...kids) {
  return make(document.createElementNS('http://www.w3.org/2000/svg', tag),
              props, kids);
}

export const $ = (id) => document.getElementById(id);

const keyOf = (node) => node.dataset?.key;

function alike(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName
         && keyOf(a) === keyOf(b);
}

function attributes(old, next) {
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && name !== 'open' && name !== 'style') {
      old.removeAttribute(name);
    }
  }
  for (const { name, value } of next.attributes) {
    if (name !== 'style' && old.getAttribute(name) !== value) {
      old.setAttribute(name, value);
    }
  }
  if (old.style && old.style.cssText !== next.style.cssText) {
    old.style.cssText = next.style.cssText;
  }
  for (const name of EVENTS) {
    if (old[name] !== next[name]) {
      old[name] = next[name];
    }
  }
  if ('checked' in old) {
    old.checked = next.checked;
    old.indeterminate = next.indeterminate;
  }
}

export function morph(old, next) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== next.data) {
      old.data = next.data;
    }
    return;
  }
  if (old.dataset?.keep) {
    return;
  }
  attributes(old, next);
  children(old, [...next.childNodes]);
  if ('value' in old && old.value !== next.value
      && old !== document.activeElement && old.type !== 'checkbox') {
    old.value = next.value;
  }
}

function children(old, nodes) {
  const keyed = new Map();
  const kept = new Set();

  for (const node of old.childNodes) {
    if (keyOf(node)) {
      keyed.set(keyOf(node), node);
    }
  }

  let at = old.firstChild;

  for (const node of nodes) {
    while (at && kept.has(at)) {
      at = at.nextSibling;
    }
    const there = keyOf(node) ? keyed.get(keyOf(node)) : at;

    if (there && alike(there, node)) {
      kept.add(there);
      if (there !== at) {
        old.insertBefore(there, at);
      } else {
        at = at.nextSibling;
      }
      morph(there, node);
    } else {
      old.insertBefore(node, at);
      kept.add(node);
    }
  }

  for (const node of [...old.childNodes]) {
    if (!kept.has(node)) {
      node.remove();
    }
  }
}

export const show = (el, ...kids) =>
  children(el, [...put(document.createDocumentFragment(), kids).childNodes]);

// parts that pages share

export const id = (text) => h('bdi', { class: 'id' }, text);

// a name of several words may be broken between them, and not inside one that has the
// length of a word

const LONG = /[^_.:/@]{25}/;

export const word = (text, cls = '') => h('bdi', { class: LONG.test(text) ? `id ${cls}` : cls || null }, String(text).split(/(?<=[_.:/@])/)
  .flatMap((part, i) => (i ? [h('wbr'), part] : [part])));

export const link = (href, text, cls) =>
  h('a', { href, class: cls }, text);

const TONES = {
  accepted: 'good', open: 'good', active: 'good', leader: 'good', up: 'good', closed: 'good',
  done: 'good', pending: 'quiet', follower: 'quiet', canceled: 'quiet',
  stopped: 'quiet', running: 'note', paused: 'warn', half_open: 'warn',
  degraded: 'warn', warn: 'warn', warning: 'warn', failing: 'bad', critical: 'bad',
  unknown: 'warn', rejected: 'bad', exhausted: 'bad', refused: 'bad',
  error: 'bad', circuit_open: 'bad', down: 'bad', failed: 'bad'
};

export const tone = (name) => TONES[name] || 'quiet';

// a number that is cut short says all of it to whoever points at it

export const num = (n) => (n >= 1e6 ? h('span', { title: full(n) }, count(n)) : count(n));

export const pill = (name, text) =>
  h('span', { class: `pill ${tone(name)}` },
    text || String(name).replace(/_/g, ' '));

export const card = (title, ...kids) =>
  h('section', { class: 'card' }, title && h('h2', null, title), kids);

export const tile = (label, value, note, cls, href) =>
  h('div', { class: `tile ${cls || ''}` },
    h('dt', null, href ? link(href, label) : label),
    h('dd', null, h('span', { class: 'figure' }, value),
      note && h('span', { class: 'note' }, note)));

export const facts = (pairs) =>
  h('dl', { class: 'facts' },
    pairs.filter((pair) => pair && pair[1] != null && pair[1] !== '' && pair[1] !== false)
      .map(([name, value]) =>
        h('div', null, h('dt', null, name), h('dd', null, value))));

export const empty = (title, ...hints) =>
  h('div', { class: 'empty' }, h('p', null, h('strong', null, title)),
    hints.map((hint) => h('p', null, hint)));

// cols: [label, class]; rows: {key, cells, labels}, where labels are those of a row that
// differ from the column's, on a small screen

export function table(caption, cols, rows, none) {
  if (!rows.length && none) {
    return none;
  }
  return h('div', { class: 'wide' },
    h('table', null,
      h('caption', { class: 'unseen' }, caption),
      h('thead', null, h('tr', null, cols.map(([label, cls]) =>
        h('th', { scope: 'col', class: cls },
          label instanceof Node ? label : label || h('span', { class: 'unseen' }, 'Actions'))))),
      h('tbody', null, rows.map((row) =>
        h('tr', { 'data-key': row.key, class: row.class },
          row.cells.map((cell, i) =>
            h('td', { class: cols[i][1],
                      'data-label': typeof cols[i][0] === 'string' ? row.labels?.[cols[i][0]] || cols[i][0] : '' },
              cell)))))));
}

// A click acts once: until what it began has ended, the button is off, on a page
// that is made anew meanwhile, too.

const busy = new Set();

export function button(text, onclick, props) {
  const name = props?.['aria-label'] || text;

  return h('button', { type: 'button', disabled: busy.has(name), ...props, onclick: async (event) => {
    const el = event.currentTarget;

    if (busy.has(name)) {
      return;
    }
    busy.add(name);
    try {
      const under = onclick(event);
      if (under instanceof Promise) {
        el.disabled = true;
        await under;
      }
    } finally {
      busy.delete(name);
      el.disabled = false;
    }
  } }, text);
}

// of forms

export const field = (label, control, note) => h('div', { class: 'field' },
  h('label', { for: control.id }, label), control, note && h('span', { class: 'note' }, note));

export const choice = (name, options, value, onchange) => h('select', { id: name, name, value, onchange },
  options.map(([of, text]) => h('option', { value: of, selected: of === value }, text)));

// lists by pages: no total, and the address has the place

export const pages = (ctx, next) => h('div', { class: 'row pages' },
  ctx.params.get('after') && button('Newest', () => ctx.go({ after: '', sel: [] })),
  ctx.params.get('after') && button('Previous', () => history.back()),
  next && button('Older', () => ctx.go({ after: next, sel: [] })));

// of what has not ended: when its next attempt is, or nothing

export const next = (i, now) => i.nextAttemptAt && h('time', { datetime: i.nextAttemptAt, title: moment(i.nextAttemptAt, now) },
  Date.parse(i.nextAttemptAt) > now ? ago(i.nextAttemptAt, now).replace('just now', 'in a moment') : 'due now');

export const time = (at, now, text) => (at
  ? h('time', { datetime: at, title: moment(at, now) }, text || ago(at, now)) : '–');
