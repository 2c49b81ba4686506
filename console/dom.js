// Elements, and how a page becomes the next one.
//
// A page is made anew for each answer, and then compared with what is there:
// what has not changed stays, with its focus, its selection and what is open.
// Text is always text; nothing here reads HTML.

import { count, full } from './format.js';

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

export const link = (href, text, cls) =>
  h('a', { href, class: cls }, text);

const TONES = {
  accepted: 'good', open: 'good', active: 'good', leader: 'good', up: 'good', closed: 'good',
  done: 'good', pending: 'quiet', follower: 'quiet', canceled: 'quiet',
  stopped: 'quiet', running: 'note', paused: 'warn', half_open: 'warn',
  unknown: 'warn', rejected: 'bad', exhausted: 'bad', refused: 'bad',
  error: 'bad', circuit_open: 'bad', down: 'bad', failed: 'bad'
};

// a number that is cut short says all of it to whoever points at it

export const num = (n) => (n >= 1e6 ? h('span', { title: full(n) }, count(n)) : count(n));

export const pill = (word, text) =>
  h('span', { class: `pill ${TONES[word] || 'quiet'}` },
    text || String(word).replace(/_/g, ' '));

export const card = (title, ...kids) =>
  h('section', { class: 'card' }, title && h('h2', null, title), kids);

export const tile = (label, value, note, tone, href) =>
  h('div', { class: `tile ${tone || ''}` },
    h('dt', null, href ? link(href, label) : label),
    h('dd', null, h('span', { class: 'figure' }, value),
      note && h('span', { class: 'note' }, note)));

export const facts = (pairs) =>
  h('dl', { class: 'facts' },
    pairs.filter((pair) => pair && pair[1] != null && pair[1] !== '')
      .map(([name, value]) =>
        h('div', null, h('dt', null, name), h('dd', null, value))));

export const empty = (title, ...hints) =>
  h('div', { class: 'empty' }, h('p', null, h('strong', null, title)),
    hints.map((hint) => h('p', null, hint)));

// cols: [label, class]; rows: {key, cells}

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
                      'data-label': typeof cols[i][0] === 'string' ? cols[i][0] : '' },
              cell)))))));
}

export const button = (text, onclick, props) =>
  h('button', { type: 'button', onclick, ...props }, text);
