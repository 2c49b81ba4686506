// Requests to the API below this page, and its errors in words.

import { heardDate, heardNow } from './clock.js';

const BASE = 'api/v1/';
const TIMEOUT = 10000;
const SOON = 4000;          // ms, of what comes from memory
const MEMORY = /^(overview|targets|stats|events|config)\b/;

const seen = new Map();     // path -> {etag, data}

export const told = {
  heard: 0,                 // when the last answer came, by this page's clock
  changed: false            // whether the last round brought anything new
};

export class Problem extends Error {
  constructor(status, code, message, details) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details || {};
  }

  // nobody answered, or somebody else in the instance's place, such as a proxy

  get lost() {
    return this.status === 0 || (this.code === 'http' && this.status >= 500);
  }

  // the route itself is not there: another version of the module

  get absent() {
    return this.status === 404 && /nothing at this path/.test(this.message);
  }
}

const ADVICE = {
  lost: 'This instance cannot be reached. What is shown is the last that was heard; it is asked again by itself.',
  absent: 'This instance does not offer this. It may run an older version of the module: upgrade it, or ask another instance.',
  unauthorized: 'You are not signed in any more. Reload the page to sign in.',
  forbidden: 'It is not allowed here. Use a location with access=operate, or ask who runs it.',
  cross_site: 'This page did not come from where its requests go: a proxy may have changed the host. Open the console by the name that the server has.',
  unknown_host: 'The server does not know this name as its own: add it to "server_name", or to "hosts=" of "submission_console".',
  store_unavailable: 'The store did not complete it. It may or may not have been done: look first, then repeat it. Repeating is safe.',
  unread: 'The store did not answer, and nothing was changed. Try again; the overview says how the store is.',
  overloaded: 'The server is busy. Wait a moment, and repeat it.',
  in_flight: 'An attempt is at the gateway right now. Wait until it has ended, and try again.',
  already_terminal: 'It has ended already, and nothing was changed. To send it again, replay it.',
  not_terminal: 'It has not ended yet, so it cannot be replayed. Cancel it first, or wait.',
  already_replayed: 'It was replayed before. Look at what became of that first; to replay it once more, open it.',
  precondition_failed: 'Somebody else has changed it meanwhile. Close this, look at it, and try again.',
  schedule_configured: 'It is in the configuration of nginx. Change it there, and reload.',
  reserved_id: 'Ids of this form belong to a schedule. Choose another one.',
  payload_stripped: 'Its payload is not kept any more (retention), so it cannot be replayed. Submit it anew from the application.',
  unknown_target: 'Its target is not configured any more. Configure it again, or replay it through the API with "contract":"original".',
  idempotency_conflict: 'Another intent has that id. Choose another one.',
  not_found: 'Retention may have removed it, or its name is another one: look for it by the beginning of its id.',
  invalid_request: 'The server did not understand it. Change what was entered.',
  too_many_requests: 'There are too many requests. Wait a moment.'
};

export function advice(problem, reading) {
  return !(problem instanceof Problem) ? '' : reading && problem.code === 'store_unavailable' ? ADVICE.unread : problem.lost ? ADVICE.lost : problem.absent ? ADVICE.absent
    : ADVICE[problem.code] || 'Look into the error log of nginx on this instance.';
}

async function send(path, options) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), MEMORY.test(path) ? SOON : TIMEOUT);

  try {
    return await fetch(BASE + path, { cache: 'no-store', redirect: 'error',
                                      signal: abort.signal, ...options });
  } catch {
    throw new Problem(0, 'lost', abort.signal.aborted ? 'There is no answer.' : 'The connection is refused or broken.');
  } finally {
    clearTimeout(timer);
  }
}

async function read(response) {
  const text = await response.text().catch(() => '');
  let body;

  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }

  if (!response.ok) {
    const error = body?.error || {};
    throw new Problem(response.status, error.code || 'http',
                      error.message || `A proxy or nginx itself answered HTTP ${response.status}.`, error.details);
  }

  if (body === null) {
    throw new Problem(response.status, 'http', 'the answer is not JSON');
  }

  return body;
}

export async function get(path) {
  const old = seen.get(path);
  const response = await send(path, old?.etag
    ? { headers: { 'If-None-Match': old.etag } } : {});

  heardDate(response.headers.get('Date'));

  if (response.status === 304) {
    told.heard = Date.now();
    return old.data;
  }

  const data = await read(response);

  told.heard = Date.now();
  told.changed = true;
  heardNow(data);

  const etag = response.headers.get('ETag');

  if (etag) {
    seen.set(path, { etag, data });
  }

  return data;
}

// text as it is; of a payload

export async function getText(path) {
  const response = await send(path, {});
  if (!response.ok) {
    return read(response);
  }
  return response.text();
}

// an answer that says that it was done before, and that nothing is done now

const before = new WeakSet();

export const wasDone = (answer) => before.has(answer);

// a body of text is sent as it is: numbers in a payload keep their digits

export async function post(path, body, method = 'POST', headers = {}) {
  const response = await send(path, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body || {})
  });
  heardDate(response.headers.get('Date'));

  const answer = response.status === 204 ? {} : await read(response);

  if (response.headers.get('Idempotent-Replayed') === 'true') {
    before.add(answer);
  }
  return answer;
}

export const seg = encodeURIComponent;

export function query(args) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) {
    if (value != null && value !== '') {
      q.set(name, value);
    }
  }
  // URLSearchParams writes a space as "+", and the API takes that for a plus
  const text = q.toString().replace(/\+/g, '%20');
  return text && `?${text}`;
}
