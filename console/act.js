// What changes something: dialogs that say what will happen, and what came of it.

import { h, $, show, button } from './dom.js';
import { advice, wasDone } from './api.js';
import { count } from './format.js';

let open = null;

export function closeDialog() {
  open?.close();
}

// body: nodes; act: {text, tone, run}, which may answer nodes to show instead

export function dialog(title, body, act) {
  closeDialog();

  const before = document.activeElement;
  const content = h('div', { class: 'body' }, body);
  const status = h('p', { role: 'status', class: 'status' });
  const go = act && button(act.text, run, { class: act.tone || 'primary' });
  const close = button(act ? 'Back' : 'Close', () => el.close());
  const el = h('dialog', { 'aria-labelledby': 'dialog-title' },
    h('h2', { id: 'dialog-title' }, title), content, status,
    h('div', { class: 'buttons' }, close, go));

  async function run() {
    go.disabled = true;
    show(status, 'Working…');
    try {
      const next = await act.run((...kids) => show(status, kids));
      if (next) {
        show(content, next);
        show(status);
        go.remove();
        close.textContent = 'Close';
        close.focus();
      } else {
        el.close();
      }
    } catch (problem) {
      go.disabled = false;
      show(status, h('strong', null, problem.message), ' ', advice(problem));
    }
  }

  el.onclose = () => {
    el.remove();
    if (open === el) {
      open = null;
      before?.focus?.();
    }
  };
  el.onkeydown = (event) => {
    if (go && !go.disabled && event.key === 'Enter' && event.target.tagName === 'INPUT') {
      run();
    }
  };
  el.onclick = (event) => {
    if (event.target === el) {
      el.close();
    }
  };

  document.body.append(el);
  open = el;
  el.showModal();
  // a key that is pressed twice does not agree to what is dangerous

  (el.querySelector('[autofocus]') || (act?.tone !== 'danger' && go) || close).focus();
  return el;
}

// what else can be done with a thing; each entry: [text, what it does, tone]

export function menu(title, entries) {
  dialog(title, h('div', { class: 'menu' }, entries.filter(Boolean).map(([text, run, cls]) =>
    button(text, () => { closeDialog(); return run(); }, { class: cls }))));
}

export const more = (name, entries) => button('⋯', () => menu(name, entries),
  { class: 'small', 'aria-label': `More for ${name}`, title: 'More' });

export function toast(text, tone) {
  const el = h('div', { class: `toast ${tone || 'good'}` }, text);

  $('toasts').append(el);
  setTimeout(() => el.remove(), tone === 'bad' ? 12000 : 5000);
}

// runs at once; the problem in words if it fails.  "text" may be made of the answer, with a
// tone.

export async function attempt(promise, text) {
  try {
    const answer = await promise;
    toast(...[typeof text === 'function' ? text(answer) : text].flat());
    return answer;
  } catch (problem) {
    toast(`${problem.message}: ${advice(problem)}`, 'bad');
    return null;
  }
}

// one after the other, with what came of each

export async function each(ids, run, progress) {
  const failed = [];
  let [done, before] = [0, 0];

  for (const one of ids) {
    try {
      wasDone(await run(one)) ? before++ : done++;
    } catch (problem) {
      failed.push([one, problem]);
      if (problem.lost) {
        break;
      }
    }
    progress(`${done + before + failed.length} of ${ids.length}`);
  }

  return { done, before, failed };
}

// What a replay of so many does, of which gateways have accepted some: those are charged
// or sent twice.  So that is said, and no key that is pressed too soon agrees to it.  "more":
// not all were looked at.

export const replayTone = ({ n, more }) => (n || more ? 'danger' : 'primary');

export const replayWords = (all, { n, more }) => [
  n > 0 && h('p', null, h('strong', null, all === 1 ? 'The gateway has accepted this one: it will get it twice.'
    : `${n === all ? 'All' : `${more ? 'At least ' : ''}${count(n)}`} of them ${n === 1 ? 'was' : 'were'} accepted.`),
    ' What was charged or sent is charged or sent again.'),
  more && !n && h('p', null, h('strong', null, 'Some of them may have been accepted.'), ' What was charged or sent is charged or sent again.'),
  n < all && h('p', null, all === 1 ? 'If the gateway has acted on it, it may act twice: it knows a replay only as another intent.'
    : 'A gateway that has acted on one of them may act twice: it knows a replay only as another intent.')];
