// Charts by uPlot, and the same numbers as a table.

import uPlot from './vendor/uPlot.esm.js';
import { h, svg, show, tone, $ } from './dom.js';
import { clock, count, rate, DASH } from './format.js';

const LEAST = 300;          // seconds, of what is shown
const MARKS = 4;            // events that are told at one place

// of an axis of whole numbers, and of one of seconds: round minutes, hours and days

export const WHOLE = [...Array(30)].map((_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3));
export const TIMES = [1, 2, 5, 10, 20, 60, 120, 300, 600, 1200, 3600, 7200, 14400, 28800, 86400, 172800, 604800, 2592000];
const MINUTES = TIMES.filter((t) => t >= 60);   // its labels say no seconds

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

// one row a minute, the newest first; each point counts as long as it stands for

function average(values, rows, points) {
  const known = points.filter((i) => values[i] != null);
  const weight = (i) => rows.seconds[i] || rows.interval;
  const all = known.reduce((sum, i) => sum + weight(i), 0);

  return all ? known.reduce((sum, i) => sum + values[i] * weight(i), 0) / all : null;
}

function numbers(title, unit, series, rows) {
  const newest = rows.at[rows.at.length - 1];
  const minutes = Map.groupBy(rows.at.keys(), (i) => Math.floor((newest - rows.at[i]) / 60));
  const list = [...minutes].sort(([a], [b]) => a - b).slice(0, 60).map(([, points]) =>
    [rows.at[points[points.length - 1]], ...series.map((s) => average(s.values, rows, points))])
    .filter(([, ...values]) => values.some((v) => v != null));

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

// a line for each event, in the colour of how grave it is

const TONES = { bad: 'red', warn: 'amber' };

function drawMarks(u, marks) {
  for (const mark of marks || []) {
    const x = Math.round(u.valToPos(mark.second, 'x', true));

    if (x >= u.bbox.left && x <= u.bbox.left + u.bbox.width) {
      u.ctx.save();
      u.ctx.strokeStyle = colour(TONES[tone(mark.level)] || 'quiet');
      u.ctx.setLineDash([3, 3]);
      u.ctx.beginPath();
      u.ctx.moveTo(x, u.bbox.top);
      u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
      u.ctx.stroke();
      u.ctx.restore();
    }
  }
}

// what the lines say that are near to where the mouse points

const NEAR = 7;             // pixels

function markWords(u, marks) {
  const { left } = u.cursor;
  const near = left < 0 ? [] : (marks || []).filter((m) => Math.abs(u.valToPos(m.second, 'x') - left) <= NEAR);
  let box = u.over.querySelector('.says');

  if (!box) {
    u.over.append(box = h('div', { class: 'says' }));
  }
  box.hidden = !near.length;
  box.style.left = `${Math.min(left, u.over.clientWidth / 2)}px`;
  show(box, near.slice(0, MARKS).map((m) => h('p', { class: tone(m.level) }, clock(m.at), ' ', h('bdi', null, m.text))),
    near.length > MARKS && h('p', null, `and ${near.length - MARKS} more`));
}

function options(el, series, how, steps, point, marks) {
  const axis = { stroke: colour('quiet'), grid: { stroke: colour('line'), width: 1 },
                 ticks: { show: false }, font: `${rem(.8)}px system-ui` };

  return {
    ...size(el), legend: { show: false }, padding: [rem(.7), rem(1.2), 0, 0], hooks: { setCursor: [point, (u) => markWords(u, marks())], draw: [(u) => drawMarks(u, marks())] },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    scales: { x: { range: (u, min, max) => [Math.min(min, max - LEAST), max] },
              y: { range: (u, min, max) => [0, Math.max(max * 1.1, 2)] } },
    axes: [{ ...axis, incrs: MINUTES, space: rem(4.6), size: rem(1.7), values: (u, at) => at.map((t) => clock(t * 1000).slice(0, 5)) },
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

  chart.plot = new uPlot(options(el, series, how, steps, point, () => chart.rows.marks), data, el);
  charts.set(id, chart);
  wait.observe(el);
}

export function repaint() {
  for (const [, chart] of charts) {
    chart.plot.destroy();
  }
  charts.clear();
}

// A small line with a zero line below it; what its top is stands beside it, so that
// a line that is dead does not look like one that is alive.  Points stand where their
// time is, of so many seconds until now.

export function spark({ at, values }, label, seconds, now) {
  const most = Math.max(...values, 0);
  const lines = [[]];

  at.forEach((time, i) => {
    const x = 100 - (now - time) / seconds * 100;

    if (values[i] == null) {
      lines.push([]);
    } else if (x >= 0) {
      lines[lines.length - 1].push(`${Math.min(x, 100).toFixed(1)},${(23 - values[i] / (most || 1) * 21).toFixed(1)}`);
    }
  });
  const top = most ? `up to ${rate(most)}` : 'nothing sent';

  return h('div', { class: most ? 'trend' : 'trend dead' },
    svg('svg', { class: 'spark', viewBox: '0 0 100 24', role: 'img', preserveAspectRatio: 'none', 'aria-label': `${label}: ${top}` },
      svg('line', { x1: 0, x2: 100, y1: 23.5, y2: 23.5 }),
      most > 0 && lines.filter((points) => points.length).map((points) => svg('polyline', { points: [points[0], ...points].join(' ') }))),
    h('span', { class: 'note' }, top));
}
