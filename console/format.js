// Numbers with units, times, and durations, for people.

const whole = new Intl.NumberFormat('en');
const brief = new Intl.NumberFormat('en', { notation: 'compact',
                                            maximumFractionDigits: 2 });
const one = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

export const DASH = '–';

export function count(n) {
  return n == null ? DASH : Math.abs(n) >= 1e6 ? brief.format(n) : whole.format(n);
}

export const full = (n) => (n == null ? '' : whole.format(n));

export function rate(n) {
  return n == null ? DASH : n > 0 && n < 0.1 ? `${one.format(n * 60)}/min`
    : `${n >= 100 ? count(Math.round(n)) : one.format(n)}/s`;
}

// the "10r/s" of a directive

export const perTime = (text) => text.replace('r/s', '/s').replace('r/m', '/min');

export function percent(ratio) {
  if (ratio == null) {
    return DASH;
  }
  // 99.96 % is not 100 %
  const p = ratio === 1 ? 100 : Math.min(Math.floor(ratio * 1000) / 10, 99.9);
  return `${p} %`;
}

// the larger unit, and the smaller one if there is any of it

function units(n, large, name, small, part) {
  const rest = Math.floor(n % large / small);
  return `${Math.floor(n / large)} ${name}${rest ? ` ${rest} ${part}` : ''}`;
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
    return `${Math.floor(s * 1000)} ms`;
  }
  return s < 10 ? `${Math.floor(s * 10) / 10} s` : s < 60 ? `${Math.floor(s)} s`
    : s < 3600 ? units(s, 60, 'min', 1, 's') : s < 86400 ? units(s, 3600, 'h', 60, 'min')
    : units(s, 86400, 'd', 3600, 'h');
}

// PT1H30M, in words

export function interval(text) {
  const [, d = 0, h = 0, m = 0, s = 0] = text.match(/^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/) || [];
  const seconds = d * 86400 + h * 3600 + m * 60 + Number(s);

  return seconds ? `every ${duration(seconds)}` : text;
}

// where there is little room, or where it changes while one looks

export const rough = (seconds) =>
  seconds >= 60 && seconds < 3600 ? `${Math.floor(seconds / 60)} min` : duration(seconds);

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

// of what is planned by the second

export const second = (at) => moment(at).replace(/\.\d+$/, '');

// as the fields of a form have it

export const local = (at) => {
  const t = new Date(at);
  return at && new Date(t - t.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
};

export function ago(at, now) {
  const s = (now - new Date(at)) / 1000;
  return s < -1 ? `in ${rough(-s)}` : s < 1 ? 'just now' : `${rough(s)} ago`;
}
