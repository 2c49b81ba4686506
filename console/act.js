// What changes something: dialogs that say what will happen, and what came of it.

import { h, $, show, button } from './dom.js';
import { advice } from './api.js';

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

// runs at once; the problem in words if it fails

export async function attempt(promise, text) {
  try {
    const answer = await promise;
    toast(text);
    return answer;
  } catch (problem) {
    toast(`${problem.message}: ${advice(problem)}`, 'bad');
    return null;
  }
}

// one after the other, with what came of each

export async function each(ids, run, progress) {
  const failed = [];
  let done = 0;

  for (const one of ids) {
    try {
      await run(one);
      done++;
    } catch (problem) {
      failed.push([one, problem]);
      if (problem.lost) {
        break;
      }
    }
    progress(`${done + failed.length} of ${ids.length}`);
  }

  return { done, failed };
}
