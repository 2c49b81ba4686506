// Charts by uPlot, and the same numbers as a table.

import uPlot from './vendor/uPlot.esm.js';
import { h, svg, show, $ } from './dom.js';
import { clock, count, DASH } from './format.js';

const LEAST = 300;          // seconds, of what is shown

// of an axis of whole numbers, and of one of seconds: round minutes, hours and days

export const WHOLE = [...Array(30)].map((_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3));
export const TIMES = [1, 2, 5, 10, 20, 60, 120, 300, 600, 1200, 3600, 7200, 14400, 28800, 86400, 172800, 604800, 2592000];

const charts = new Map();

// as the style sheet has it now: canvas knows no variables

const probe = h('span', { hidden: true });

function colour(name) {
  document.body.append(probe);
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

const faint = (rgb) => rgb.replace('rgb(', 'rgba(').replace(')', ', .14)');

// the place of a chart in a page; "keep": a new page leaves it alone

export function place(id, title, unit, series, rows, how) {
  const at = charts.get(id)?.plot.cursor.idx;

  return h('figure', { class: 'chart', 'data-key': id },
    h('figcaption', null, h('h3', null, title, ' ', h('span', { class: 'note' }, how ? '' : unit)),
      h('span', { class: 'legend' }, legend(series, rows, at, how))),
    h('div', { id, 'data-key': id, 'data-keep': '1', class: 'plot', 'aria-hidden': 'true' }),
    h('details', null, h('summary', null, `${title} as a table`),
      numbers(title, unit, series, rows)));
}

// what the colours mean, and what was at the place that the mouse points at

const legend = (series, rows, at, how) => [
  rows.at[at] && h('span', null, clock(rows.at[at] * 1000)),
  series.map((s) => h('span', { class: `key ${s.tone}` }, s.label,
    s.values[at] == null ? '' : h('b', null, ` ${(how || round)(s.values[at])}`)))];

const round = (v) => count(Math.round(v * 10) / 10);

// one row a minute, the newest first

function numbers(title, unit, series, rows) {
  const step = Math.max(1, Math.round(60 / (rows.interval || 5)));
  const list = [];

  for (let end = rows.at.length; end > 0 && list.length < 60; end -= step) {
    const from = Math.max(0, end - step);
    list.push([rows.at[end - 1], ...series.map((s) => {
      const part = s.values.slice(from, end).filter((v) => v != null);
      return part.length ? part.reduce((a, b) => a + b, 0) / part.length : null;
    })]);
  }

  return h('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': title },
    h('table', { class: 'plain' },
      h('caption', { class: 'unseen' }, `${title}, averages by minute`),
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Time'),
        series.map((s) => h('th', { scope: 'col', class: 'num' }, `${s.label}${unit ? `, ${unit}` : ''}`)))),
      h('tbody', null, list.map(([at, ...values]) =>
        h('tr', null, h('th', { scope: 'row' }, clock(at * 1000)),
          values.map((v) => h('td', { class: 'num' }, v == null ? DASH : round(v))))))));
}

// as large as the letters are

const rem = (n) => n * parseFloat(getComputedStyle(document.documentElement).fontSize);
const size = (el) => ({ width: el.clientWidth || 300, height: Math.round(rem(11.3)) });

function options(el, series, how, steps, point) {
  const axis = { stroke: colour('quiet'), grid: { stroke: colour('line'), width: 1 },
                 ticks: { show: false }, font: `${rem(.8)}px system-ui` };

  return {
    ...size(el), legend: { show: false }, padding: [rem(.7), rem(1.2), 0, 0], hooks: { setCursor: [point] },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    scales: { x: { range: (u, min, max) => [Math.min(min, max - LEAST), max] },
              y: { range: (u, min, max) => [0, Math.max(max * 1.1, 2)] } },
    axes: [{ ...axis, space: rem(4.6), size: rem(1.7), values: (u, at) => at.map((t) => clock(t * 1000).slice(0, 5)) },
           { ...axis, size: rem(3.7), values: (u, at) => at.map(how || count), ...(steps && { incrs: steps }) }],
    series: [{}, ...series.map((s) => ({
      label: s.label, stroke: colour(s.tone), width: 1.5,
      fill: s.fill ? faint(colour(s.tone)) : undefined, points: { show: false }
    }))]
  };
}

const wait = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const chart = charts.get(target.id);
    if (chart && chart.el === target && target.clientWidth !== chart.plot.width) {
      chart.plot.setSize(size(target));
    }
  }
});

export function plot(id, series, rows, how, steps) {
  const el = $(id);

  if (!el) {
    return;
  }

  const data = [rows.at, ...series.map((s) => s.values)];
  const old = charts.get(id);

  if (old && old.el === el) {
    Object.assign(old, { series, rows });
    old.plot.setData(data);
    return;
  }

  old?.plot.destroy();

  const chart = { el, series, rows };
  const point = (u) => show(el.parentNode.querySelector('.legend'),
    legend(chart.series, chart.rows, u.cursor.idx, how));

  chart.plot = new uPlot(options(el, series, how, steps, point), data, el);
  charts.set(id, chart);
  wait.observe(el);
}

export function repaint() {
  for (const [, chart] of charts) {
    chart.plot.destroy();
  }
  charts.clear();
}

// a line without axes

export function spark(values, label) {
  const top = Math.max(...values, 1);
  const step = 100 / Math.max(values.length - 1, 1);
  const points = values.map((v, i) =>
    `${(i * step).toFixed(1)},${(23 - v / top * 22).toFixed(1)}`).join(' ');

  return svg('svg', { class: 'spark', viewBox: '0 0 100 24', role: 'img',
                      preserveAspectRatio: 'none', 'aria-label': label },
    svg('polyline', { points }));
}
