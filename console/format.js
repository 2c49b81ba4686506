// Numbers with units, times, and durations, for people.

const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact',
                                            maximumFractionDigits: 2 });
const one = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

export const DASH = '–';

export function count(n) {
  return n == null ? DASH : Math.abs(n) >= 1e6 ? short.format(n) : whole.format(n);
}

export const full = (n) => (n == null ? '' : whole.format(n));

export function rate(n) {
  return n == null ? DASH : `${n >= 100 ? count(Math.round(n)) : one.format(n)}/s`;
}

export function percent(ratio) {
  if (ratio == null) {
    return DASH;
  }
  // 99.96 % is not 100 %
  const p = ratio === 1 ? 100 : Math.min(Math.floor(ratio * 1000) / 10, 99.9);
  return `${p} %`;
}

export function duration(seconds) {
  if (seconds == null || Number.isNaN(seconds)) {
    return DASH;
  }
  const s = Math.max(seconds, 0);
  if (s < 0.001) {
    return s ? '< 1 ms' : '0 s';
  }
  if (s < 1) {
    return `${Math.round(s * 1000)} ms`;
  }
  if (s < 60) {
    return `${s < 10 ? one.format(s) : Math.round(s)} s`;
  }
  if (s < 3600) {
    return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  }
  if (s < 86400) {
    return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  }
  return `${Math.floor(s / 86400)} d ${Math.floor(s % 86400 / 3600)} h`;
}

export const millis = (ms) => (ms == null ? DASH : duration(ms / 1000));

export const bytes = (n) =>
  n >= 1048576 ? `${one.format(n / 1048576)} MB`
  : n >= 1024 ? `${one.format(n / 1024)} KB` : `${n} bytes`;

const pad = (n, width = 2) => String(n).padStart(width, '0');

export function clock(at) {
  const t = new Date(at);
  return `${pad(t.getHours())}:${pad(t.getMinutes())}:${pad(t.getSeconds())}`;
}

// local, with milliseconds; the day only if it is not today

export function moment(at, now = Date.now()) {
  if (at == null) {
    return DASH;
  }
  const t = new Date(at);
  const day = `${t.getFullYear()}-${pad(t.getMonth() + 1)}-${pad(t.getDate())}`;
  const time = `${clock(t)}.${pad(t.getMilliseconds(), 3)}`;
  return new Date(now).toDateString() === t.toDateString() ? time : `${day} ${time}`;
}

export function ago(at, now) {
  const s = (now - new Date(at)) / 1000;
  return s < -1 ? `in ${duration(-s)}` : s < 1 ? 'just now' : `${duration(s)} ago`;
}
