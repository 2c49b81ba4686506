// Charts by uPlot, and the same numbers as a table.

import uPlot from './vendor/uPlot.esm.js';
import { h, svg, $ } from './dom.js';
import { clock, count } from './format.js';

const LEAST = 300;          // seconds, of what is shown

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

export function place(id, title, unit, series, rows) {
  return h('figure', { class: 'chart', 'data-key': id },
    h('figcaption', null, h('h3', null, title), h('span', { class: 'legend' },
      series.map((s) => h('span', { class: `key ${s.tone}` }, s.label)))),
    h('div', { id, 'data-key': id, 'data-keep': '1', class: 'plot', 'aria-hidden': 'true' }),
    h('details', null, h('summary', null, `${title} as a table`),
      numbers(title, unit, series, rows)));
}

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
          values.map((v) => h('td', { class: 'num' }, v == null ? '–' : count(Math.round(v * 10) / 10))))))));
}

const short = (u, values) => values.map((v) => count(v));

function options(el, series) {
  const axis = { stroke: colour('quiet'), grid: { stroke: colour('line'), width: 1 },
                 ticks: { show: false }, font: '12px system-ui' };

  return {
    width: el.clientWidth || 300, height: 170, legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    scales: { x: { range: (u, min, max) => [Math.min(min, max - LEAST), max] },
              y: { range: (u, min, max) => [0, Math.max(max * 1.1, 2)] } },
    axes: [{ ...axis, space: 70, size: 26, values: (u, at) => at.map((t) => clock(t * 1000).slice(0, 5)) },
           { ...axis, size: 48, values: short }],
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
      chart.plot.setSize({ width: target.clientWidth, height: 170 });
    }
  }
});

export function plot(id, series, rows) {
  const el = $(id);

  if (!el) {
    return;
  }

  const data = [rows.at, ...series.map((s) => s.values)];
  const old = charts.get(id);

  if (old && old.el === el) {
    old.plot.setData(data);
    return;
  }

  old?.plot.destroy();
  charts.set(id, { el, plot: new uPlot(options(el, series), data, el) });
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
