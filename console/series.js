// The rows of GET /v1/stats as lines.
//
// A row counts what has happened since the row before.  That is five seconds mostly,
// less when the health of a target has changed, and more when nobody reported.  So a
// rate is a count divided by the seconds in which it was counted.  Times are whole
// seconds: rows that are near to one another are one, so that a second more or less
// does not make a peak.  Where nothing is known there is no value.

const GAP = 2;              // intervals: further apart nobody reported

// {from, at, rows}; a gap is {at} alone

function parts(times, least, most) {
  const list = [];
  let last = null;

  times.forEach((at, row) => {
    const from = row ? times[row - 1] : null;
    const open = last && last.from != null && last.at - last.from < least;

    if (from != null && at - from > most) {
      list.push({ at: (from + at) / 2 }, last = { from, at, rows: [row] });
    } else if (open) {
      last.at = at;
      last.rows.push(row);
    } else {
      list.push(last = { from, at, rows: [row] });
    }
  });

  // what is not long enough yet belongs to what was before

  if (list.length > 1 && last.at - last.from < least) {
    const before = list[list.length - 2];

    before.at = last.at;
    before.rows.push(...last.rows);
    list.pop();
  }
  return list;
}

// "least": seconds that a point stands for

export function series(stats, least = stats.interval - 1) {
  const { columns, rows, interval } = stats;
  const list = parts(rows.map((row) => row[columns.indexOf('at')]), least, GAP * interval);
  const seconds = list.map((p) => (p.from == null ? null : p.at - p.from));
  const values = (name, of) => {
    const column = columns.indexOf(name);
    return list.map((p, i) => (column < 0 || !p.rows ? null : of(p.rows.map((n) => rows[n][column]), seconds[i])));
  };

  return {
    at: list.map((p) => p.at), seconds, interval,
    rate: (name) => values(name, (counts, s) => (s ? counts.reduce((sum, n) => sum + n, 0) / s : null)),
    level: (name) => values(name, (levels) => levels[levels.length - 1])
  };
}
