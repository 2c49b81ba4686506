// Three clocks: this computer's, that of the server (the Date of its answers), and
// the store's ("now" in them).  Which one is wrong, if that can be told.

import { duration } from './format.js';

const MOST = 5000;          // ms that clocks may differ by

const offset = () => Date.now() - performance.now();
const began = offset();

// how far the others are ahead of this computer, in ms; what the server was at first, and
// by how much it says that its clock was set

export const clocks = { server: 0, store: null, first: null, set: 0 };

const near = (a, b) => Math.abs(a - b) <= MOST;

// the Date has seconds alone

export function heardDate(text) {
  const ahead = Date.parse(text) + 500 - Date.now();

  if (!Number.isNaN(ahead) && Math.abs(ahead - clocks.server) > 1500) {
    clocks.server = ahead;
  }
  clocks.first ??= clocks.server;
}

export function heardNow(data) {
  const ahead = Date.parse(data.now) - Date.now();

  if (!Number.isNaN(ahead)) {
    clocks.store = ahead;
  }
  clocks.set = data.clocks ? data.clocks.hostMovedMs || 0 : clocks.set;
}

// what happened is written down by the store's clock

export const now = () => Date.now() + (clocks.store ?? clocks.server);

const differ = (ms) => `${duration(Math.abs(ms) / 1000)} ${ms > 0 ? 'ahead' : 'behind'}`;

// Says what is wrong, or nothing.  SQLite has no clock of its own.

export function wrongClock(kind, instance, { server, store, first, set } = clocks, moved = offset() - began) {
  const third = kind === 'sqlite' || store == null ? null : store;
  const here = (by) => ['This computer’s clock is wrong. ', `It is ${differ(-by)} of the server’s clock.`];
  const there = ['The server’s clock is wrong. ', `${instance}: its clock is ${differ(server)} of `];

  if (near(server, 0)) {
    return third != null && !near(third, 0)
      ? ['The store’s clock is wrong. ', `It is ${differ(third)} of the server’s and of this computer’s.`] : null;
  }
  if (third != null && near(third, server)) {
    return here(server);
  }
  if (third != null && near(third, 0)) {
    return [there[0], `${there[1]}the store’s and of this computer’s.`];
  }
  if (third == null && (near(first, 0) || (!near(set, 0) && near(set, server)))) {
    return near(server + moved, 0) ? here(server)
      : [there[0], `${there[1]}this computer’s: it was set.`];
  }
  return ['Two clocks differ. ', `The server’s clock is ${differ(server)} of this computer’s; one of them is wrong.`];
}
