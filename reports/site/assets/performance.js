// Performance over time, speed beside peers, the roofline.
"use strict";
const change = c => `${c.measure}: ${assay.number(c.before)} to ${assay.number(c.after)} (${c.before ? ((d => (d > 0 ? "+" : "") + d.toFixed(2))((c.after / c.before - 1) * 100)) : "?"} %)`;
const toneOf = c => c.machine ? "machine" : c.worse ? "worse" : "better";
const median = values => { const s = [...values].sort((a, b) => a - b), m = s.length >> 1; return s.length % 2 ? s[m] : (s[m - 1] + s[m]) / 2; };

// Bands of each level: its median with twice the noise of one point to each side.
const bandsOf = (values, starts, noise) => {
  const bounds = [0, ...starts, values.length], bands = [];
  for (let i = 0; i + 1 < bounds.length; ++i) {
    const part = values.slice(bounds[i], bounds[i + 1]).filter(v => v !== null);
    if (!part.length) continue;
    const middle = median(part), spread = Math.exp(2 * (noise || 0));
    bands.push({ from: bounds[i], to: bounds[i + 1] - 1, low: middle / spread, high: middle * spread });
  }
  return bands;
};

const seriesPage = async (id, measure) => {
  const list = await assay.load("performance"), data = await assay.load("series-" + id), h = assay.h;
  const one = list[+id], names = Object.keys(data.measures).filter(n => !/\.(lower|upper)$/.test(n));
  const chosen = measure && data.measures[measure] ? measure : names.includes("ratio") ? "ratio" : names[0];
  const values = data.measures[chosen], places = new Map(data.points.map((p, i) => [p[0], i]));
  const changes = data.changes.filter(c => c.measure === chosen && places.has(c.point));
  const starts = changes.map(c => places.get(c.point)).sort((a, b) => a - b);
  const noisy = chosen in data.noise;
  const select = h("select", { "aria-label": "measure", onchange: e => assay.go(["performance", id, e.target.value]) }, names.map(n => h("option", { selected: n === chosen }, n)));
  const chart = assay.lines({ title: `${one.workload}: ${chosen} over ${values.length} points`, values, labels: data.points.map(p => p[2].slice(0, 8)),
    titles: data.points.map((p, i) => `${assay.time(p[1])}, ${p[2]}: ${assay.number(values[i])}; code ${data.code[i] || "–"}`),
    marks: changes.map(c => ({ at: places.get(c.point), tone: toneOf(c), label: c.commit.slice(0, 9), title: `${c.commit_before}..${c.commit}: ${c.cause}` })), bands: noisy ? bandsOf(values, starts, data.noise[chosen]) : [] });
  const spread = noisy ? Math.exp(2 * data.noise[chosen]) - 1 : 0;
  const told = data.changes.filter(c => places.has(c.point));
  return [assay.crumbs(["Performance", ["performance"]], one.workload), h("h2", {}, one.workload), assay.card("", h("div", { class: "bar" }, h("label", {}, "measure ", select),
    h("span", { class: "soft" }, noisy ? `95 % of the points lie within ± ${(100 * spread).toPrecision(2)} % (band)${spread > 0.3 ? ": too noisy for any but large changes; a quieter machine or more --samples help" : ""}` : "the same in every run of the same code")), chart,
    h("p", { class: "key" }, changes.length ? ["dashed, with the first commit of the new level: ", h("span", {}, "red: worse"), h("span", {}, "green: better"), h("span", {}, "grey: the same code, so the machine or a library")] : "no change of level in this measure")),
    h("h2", {}, "Changes"), assay.card("", assay.table([{ title: "commits" }, { title: "change" }, { title: "" }, { title: "why" }], told.map(c => [h("code", {}, `${c.commit_before}..${c.commit}`), assay.link(["performance", id, c.measure], change(c)),
      h("span", { class: "badge " + (c.machine ? "none" : c.worse ? "bad" : "good") }, c.machine ? "same code" : c.worse ? "worse" : "better"), c.cause]), "No change of level.")),
    assay.card("", h("dl", {}, [["backend", one.subject], ["machine", one.machine], ["frozen reference", one.reference || "none"], ["flags", one.flags], data.left_out && ["older points, left out", data.left_out]].filter(Boolean).map(([k, v]) => [h("dt", {}, k), h("dd", {}, String(v))])),
      h("details", {}, h("summary", {}, "Points"), assay.table([{ title: "taken" }, { title: "commit" }, { title: chosen, number: true }, { title: "code" }], data.points.map((p, i) => [assay.time(p[1]), h("code", {}, p[2]), assay.number(values[i]), h("code", {}, data.code[i] || "–")]).reverse())))];
};

// Work per second over work per byte, below what the machine could do at best.
const roofline = rows => {
  const of = (name, metric) => { const row = rows.find(r => r[0] === name && r[1] === metric); return row ? row[3] : 0; };
  const roofs = rows.filter(r => r[0] === "machine" && r[1].startsWith("roof.bytes_per_second."));
  const flops = of("machine", "roof.flops_per_second");
  if (!flops || !roofs.length) return null;
  const subjects = [...new Set(rows.filter(r => r[1] === "run_seconds").map(r => r[2]))];
  const points = rows.filter(r => r[1] === "run_seconds" && of(r[0], "flops") && of(r[0], "compulsory_bytes"))
    .map(r => ({ x: of(r[0], "flops") / of(r[0], "compulsory_bytes"), y: of(r[0], "flops") / r[3], name: subjects.length > 1 ? `${r[0]}, ${r[2]}` : r[0], title: `${r[0]}, ${r[2]}: ${assay.seconds(r[3])}, ${assay.number(of(r[0], "flops") / r[3] / 1e9)} Gflop/s` }));
  if (!points.length) return null;
  return assay.card(`Roofline (${subjects.join(", ")})`, assay.loglog({ title: "roofline", points, xs: "flops per compulsory byte", ys: "flops per second",
    roofs: roofs.map(r => ({ name: r[1].split(".").pop(), at: v => Math.min(flops, v * r[3]) })) }));
};

assay.metricNames = { run_seconds: "a run", compile_seconds: "compilation", run_speedup: "speed-up of runs", run_speedup_reused: "speed-up of runs, buffers reused", compile_speedup: "speed-up of compilation" };
assay.speedCards = async only => {
  const h = assay.h, cards = [];
  for (const { run, rows } of (await assay.load("speed")).filter(one => only === undefined || one.run === only).slice(0, 6)) {
    const times = rows.filter(r => /^(run|compile)_(seconds|speedup|speedup_reused)$/.test(r[1]));
    if (!times.length || !assay.runs.has(run)) continue;
    const value = r => /seconds/.test(r[1]) ? [assay.seconds(r[3]), `${assay.seconds(r[4])} … ${assay.seconds(r[5])}`] : [r[3].toFixed(2), `${r[4].toFixed(2)} … ${r[5].toFixed(2)}`];
    const roof = roofline(rows);
    cards.push(assay.card(`Run ${run}: ${assay.who(assay.runs.get(run))}, ${assay.time(assay.runs.get(run).ms)}`, h("p", { class: "soft" }, "Speed-ups are the peer's time divided by ours: above 1 is faster. Medians with their 95 % intervals."),
      assay.table([{ title: "workload" }, { title: "of" }, { title: "who" }, { title: "median", number: true }, { title: "95 % interval", number: true }, { title: "samples", number: true }], times.map(r => [r[0], assay.metricNames[r[1]] || r[1], r[2], ...value(r), String(r[6])]))), roof);
  }
  return cards;
};

// Changes of one cause at one commit. First what became slower, the most first, then what only became larger, then what became better.
assay.changeGroups = list => {
  const groups = new Map();
  list.forEach(s => s.changes.filter(c => !c.machine).forEach(c => {
    const key = [c.commit_before, c.commit, c.cause].join("\u0000");
    if (!groups.has(key)) groups.set(key, { c, worse: false, time: 0, all: [] });
    const group = groups.get(key);
    group.worse = group.worse || c.worse;
    if (c.measure === "ratio" && c.before) group.time = Math.abs(c.after / c.before - 1) > Math.abs(group.time) ? c.after / c.before - 1 : group.time;
    group.all.push([s, c]);
  }));
  const rank = g => g.worse && g.time > 0 ? 0 : g.worse ? 1 : 2;
  return [...groups.values()].sort((x, y) => rank(x) - rank(y) || Math.abs(y.time) - Math.abs(x.time));
};

// What, by how much, since when, why: a row per group. Several measures of a workload stand together, its time first.
assay.changeTable = groups => {
  const h = assay.h;
  const told = ([s, changes]) => h("li", {}, assay.link(["performance", String(s.id), changes[0].measure], s.workload), ": ", changes.slice(0, 4).map((c, i) => [i ? ", " : "", c.measure === "ratio" ? `${c.after > c.before ? "slower" : "faster"} by ${Math.abs(100 * (c.after / c.before - 1)).toFixed(1)} %` : change(c)]),
    changes.length > 4 ? h("small", {}, ` and ${assay.count(changes.length - 4, "more measure")}`) : null);
  return assay.table([{ title: "" }, { title: "what, by how much" }, { title: "since commit" }, { title: "why" }], groups.map(g => {
    const of = new Map();
    g.all.forEach(([s, c]) => of.set(s, [...(of.get(s) || []), c]));
    const parts = [...of].map(([s, changes]) => [s, changes.sort((x, y) => (y.measure === "ratio") - (x.measure === "ratio"))]);
    return [h("span", { class: "badge " + (g.worse ? "bad" : "good") }, g.worse && g.time > 0 ? "slower" : g.worse ? "larger" : "better"), h("ul", { class: "plain" }, parts.slice(0, 6).map(told), parts.length > 6 ? h("li", {}, h("small", {}, `and ${assay.count(parts.length - 6, "more workload")}`)) : null),
      [h("code", {}, g.c.commit), h("br"), h("small", {}, `good: ${g.c.commit_before}`)], g.c.cause];
  }));
};

assay.pages.performance = {
  show: async (id, measure) => {
    if (id !== undefined) return seriesPage(id, measure);
    const h = assay.h, list = await assay.load("performance");
    const groups = assay.changeGroups(list);
    const speed = await assay.speedCards();
    return [h("h2", {}, "Performance over time"), list.length ? assay.card("", assay.table([{ title: "workload" }, { title: "backend" }, { title: "ratio to the frozen reference" }, { title: "points", number: true }, { title: "newest" }, { title: "changes", number: true }],
      list.map(s => ({ to: ["performance", String(s.id)], cells: [assay.link(["performance", String(s.id)], s.workload), s.subject, s.ratios.length > 1 ? assay.spark(s.ratios) : "–", assay.grouped(s.points), `${day(s.last_ms)} ${s.commit.slice(0, 9)}`,
        h("span", { class: s.changes.some(c => c.worse && !c.machine) ? "badge bad" : "" }, String(s.changes.filter(c => !c.machine).length))] }))))
      : [h("p", {}, "No series is in this store."), assay.command("assay bench --record bench/workloads")],
      groups.length ? [h("h2", {}, "Changes by cause"), assay.paged(groups, 40, part => assay.card("", assay.changeTable(part)))] : null,
      speed.length ? [h("h2", {}, "Speed, and beside peers"), speed] : null];
  },
};
