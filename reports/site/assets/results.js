// Verdicts: the overview, what a run or a kind of runs came to, its cases, two runs side by side.
"use strict";
assay.sections.push(["overview", "Overview"], ["matrix", "Conformance matrix"], ["performance", "Performance"], ["bugs", "Bugs"],
  ["campaigns", "Campaigns"], ["accuracy", "Accuracy"], ["compare", "Compare"], ["runs", "Runs"]);

assay.who = run => run.backend + (run.version ? ", " + run.version : "");
assay.what = run => run.verb === "check" ? "check: " + run.command.replace(/^\S*assay check\s*/, "").replace(/ --(db|out|backend|python|shard) \S+/g, "").slice(0, 60)
  : [run.verb, run.suite, run.tier, run.defect ? "planted " + run.defect : ""].filter(Boolean).join(" ");
assay.newestOf = kind => assay.runs.get(kind.runs[0]);

// A data set: of a run ("run", 12) or of what is known of a kind ("kind", 3).
assay.dataset = async (sort, id) => {
  const index = assay.data.index;
  const kind = sort === "kind" ? index.kinds[+id] : null;
  const run = kind ? assay.newestOf(kind) : assay.runs.get(+id);
  if (!run) throw new Error(`There is no ${sort} ${id} in this report.`);
  const key = kind ? kind.data : "run-" + run.id;
  if (!key || !(kind ? kind.counts : run.cases)) return { run, kind, families: [], matrix: false, key, counts: {} };
  const data = await assay.load(key);
  return { run, kind, key, matrix: data.matrix, families: data.families, counts: kind ? kind.counts : run.counts, at: [sort, String(id)] };
};

// The cases of a family as objects.
assay.cases = async (set, family) => {
  const parts = await Promise.all(family.p.map(p => assay.load(`${set.key}-${p}`)));
  return parts.flatMap(part => part.f[family.n].map(row => ({
    name: row[0], status: assay.data.index.statuses[row[1] || 0], column: part.s[row[2] || 0], detail: part.s[row[3] || 0], elements: row[4] || 0,
    failed: row[5] || 0, inconclusive: row[6] || 0, used: row[7] || 0, compile: row[8] || 0, ran: row[9] || 0, source: part.s[row[10] || 0],
    inputs: part.s[row[11] || 0], forced: row[12] || 0 })));
};

const quoted = text => /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
// The line that shows a case again.
assay.repeat = (run, one) => {
  const backend = ` --backend ${quoted(run.backend)}`;
  if (run.verb === "conform" && run.suite === "matrix") return `assay conform --suite matrix --tier ${run.tier || "smoke"}${backend} --filter ${quoted(one.name)} --cases cases`;
  if (run.verb === "conform") return `assay conform${backend}${run.suite && run.suite !== "goldens" ? " --suite " + quoted(run.suite) : ""} --filter ${quoted(one.name)}`;
  const seed = /^drawn from seed (\d+)$/.exec(one.inputs);
  if (run.verb === "check" && one.source) return `assay check ${quoted(one.source)}${backend}${seed && seed[1] !== "1" ? " --seed " + seed[1] : ""}`;
  return run.command;
};

const sum = counts => Object.values(counts).reduce((a, b) => a + b, 0);
const named = counts => Object.fromEntries(Object.entries(counts).map(([i, n]) => [assay.data.index.statuses[+i], n]));
const added = (into, counts) => { for (const [s, n] of Object.entries(counts)) into[s] = (into[s] || 0) + n; return into; };

assay.pages.overview = {
  show: async () => {
    const index = assay.data.index, h = assay.h;
    const performance = await assay.load("performance");
    if (!index.runs.length && !performance.length) return h("p", {}, "The store holds no run yet: assay check, fuzz, conform and bench add theirs.");
    const bugs = await assay.load("bugs"), causes = await assay.load("causes");
    const backends = new Map();
    index.kinds.forEach((kind, i) => {
      const run = assay.newestOf(kind);
      if (run.verb === "bench" && !kind.counts) return;
      const who = assay.who(run);
      if (!backends.has(who)) backends.set(who, []);
      backends.get(who).push([i, kind, run]);
    });
    const all = {};
    for (const kind of index.kinds) if (kind.counts) added(all, kind.counts);
    const worse = assay.changeGroups(performance).filter(g => g.worse), slower = worse.filter(g => g.time > 0).length;
    const tones = assay.byTone(all), found = bugs.filter(b => !assay.isPlanted(b)).length;
    const tiles = h("div", { class: "tiles" }, assay.tile(assay.grouped(sum(all)), "results known", ""), assay.tile(assay.percent(tones.passed, sum(all) - tones.none), "of supported pass", tones.bad ? "mild" : "good"),
      assay.tile(assay.grouped(tones.bad), "wrong now", tones.bad ? "bad" : "good"), assay.tile(assay.grouped(tones.mild), "open", tones.mild ? "mild" : ""),
      assay.tile(assay.grouped(found), "bugs from campaigns", found ? "bad" : ""), assay.tile(assay.grouped(causes.length), "known causes", ""),
      assay.tile(assay.grouped(performance.length), "performance series", ""), assay.tile(assay.grouped(slower), "changes made something slower", slower ? "bad" : ""), assay.tile(assay.grouped(worse.length - slower), "made code or memory larger", worse.length > slower ? "mild" : ""));
    const cards = [...backends].map(([who, kinds]) => assay.card(who, kinds.map(([i, kind, run]) => h("div", { class: "kindrow" },
      h("div", {}, assay.link(kind.counts ? ["kind", String(i)] : run.verb === "accuracy" ? ["accuracy"] : ["run", String(run.id)], assay.what(run)), h("br"),
        kind.counts ? assay.badges(kind.counts) : run.verb === "accuracy" ? h("small", {}, "how far functions are off, in ulps") : h("small", {}, run.programs !== undefined ? `${assay.count(run.programs, "program")}, ${assay.count(run.findings, "finding")}` : "no results"),
        h("small", {}, ` ${assay.time(run.ms)}, ${run.commit}`)),
      kind.runs.filter(id => assay.runs.get(id).cases).length > 1 ? assay.columns(kind.runs.map(id => assay.runs.get(id)).reverse()) : null))));
    return [h("h2", {}, "Overview"), tiles, worse.length ? [h("h2", {}, "What got worse"), assay.card("", assay.changeTable(worse.slice(0, 8)), h("p", {}, worse.length > 8 ? `${worse.length - 8} more, and what got better: ` : "", assay.link(["performance"], "all series")))] : performance.length ? h("p", {}, `Nothing got slower or larger: ${performance.length} series. `, assay.link(["performance"], "All series")) : null,
      h("h2", {}, "By backend"), h("div", { class: "grid" }, cards)];
  },
};

// The worst tone and letter of counts.
const worst = counts => {
  for (const tone of ["bad", "mild", "passed", "none"]) for (const status of assay.data.index.statuses) {
    if (counts[status] && (assay.tones[status] || assay.tones.other)[0] === tone) return [tone, (assay.tones[status] || assay.tones.other)[1]];
  }
  return ["empty", ""];
};

// Element types in the order of size within their kind; other columns by name.
const typeOrder = t => { const m = /^([a-z]+)(\d+)/.exec(t); return m ? [["pred", "s", "u", "f", "bf", "c"].indexOf(m[1]) + 1 || 9, +m[2], t] : [t === "pred" ? 1 : 9, 0, t]; };
const byType = (a, b) => { const x = typeOrder(a), y = typeOrder(b); return x[0] - y[0] || x[1] - y[1] || (x[2] < y[2] ? -1 : 1); };

assay.heat = (set, families) => {
  const h = assay.h, columns = [...new Set(families.flatMap(f => Object.keys(f.c || {})))].sort(byType);
  let first = true;
  const rows = families.map((family, r) => h("tr", {}, h("th", { scope: "row", title: family.n }, assay.link([...set.at, family.n], family.n)),
    columns.map((column, c) => {
      const counts = named((family.c || {})[column] || {});
      const [tone, letter] = worst(counts);
      if (tone === "empty") return h("td", { class: "empty" });
      const told = `${family.n}, ${column}: ` + Object.entries(counts).map(([s, n]) => n + " " + s).join(", ");
      const cell = h("td", { class: tone, title: told, "aria-label": told, role: "link", tabindex: first ? "0" : "-1", "data-r": r, "data-c": c,
        onclick: () => assay.go([...set.at, family.n, column]) }, letter);
      first = false;
      return cell;
    })));
  return h("div", { class: "heatbox" }, h("table", { class: "heat" }, h("thead", {}, h("tr", {}, h("th", {}, ""), columns.map(c => h("th", { scope: "col" }, h("span", {}, c))))), h("tbody", {}, rows)));
};

// A heat map with a filter by name and a switch for what is not all right.
const heatCard = set => {
  const h = assay.h, box = h("div", {}), input = h("input", { type: "search", placeholder: "filter (/)", "aria-label": "filter by name" });
  const only = h("input", { type: "checkbox", id: "only" });
  const draw = () => {
    const families = set.families.filter(f => f.n.includes(input.value)
      && (!only.checked || Object.values(f.c || {}).some(c => ["bad", "mild"].includes(worst(named(c))[0]))));
    box.replaceChildren(families.length ? assay.heat(set, families) : h("p", { class: "soft" }, "No row is left."));
  };
  input.addEventListener("input", draw);
  only.addEventListener("change", draw);
  draw();
  return h("section", { class: "card" }, h("div", { class: "bar" }, input, h("label", {}, only, " only what is wrong or open")), box,
    h("p", { class: "key" }, Object.entries(assay.tones).filter(([s]) => set.counts[s]).map(([s, t]) => h("span", {}, h("b", {}, t[1]), " ", s))));
};

const runFacts = run => assay.h("dl", {}, [["command", run.command], ["started", assay.time(run.ms)], ["took", assay.seconds(run.seconds)], ["judged", assay.who(run)],
  ["by", `assay ${run.assay} ${run.commit}`], ["on", run.machine], run.shard && ["shard", run.shard], run.filter && ["filter", run.filter]]
  .filter(Boolean).map(([k, v]) => [assay.h("dt", {}, k), assay.h("dd", {}, k === "command" ? assay.h("code", {}, v) : v)]));

const familyTable = set => assay.table([{ title: set.matrix ? "op" : "family" }, { title: "results" }, { title: "cases", number: true }, { title: "elements", number: true }, { title: "one right answer", number: true }, { title: "bound used", number: true }],
  set.families.map(f => { const counts = {}; Object.values(f.c || {}).forEach(c => added(counts, named(c)));
    return { to: [...set.at, f.n], cells: [assay.link([...set.at, f.n], f.n), assay.badges(counts), assay.grouped(sum(counts)), assay.grouped(f.e), assay.percent(f.o, f.e), f.w ? Math.round(100 * f.w) + " %" : "–"] }; }));

const caseTable = (set, cases) => {
  const h = assay.h, box = h("div", {}), input = h("input", { type: "search", placeholder: "filter (/)", "aria-label": "filter cases" });
  const statuses = assay.data.index.statuses.filter(s => cases.some(c => c.status === s));
  const select = h("select", { "aria-label": "status" }, h("option", { value: "" }, "all"), statuses.map(s => h("option", {}, s)));
  const draw = () => {
    const shown = cases.filter(c => (!select.value || c.status === select.value) && (c.name + c.detail).includes(input.value));
    box.replaceChildren(h("p", { class: "soft" }, assay.count(shown.length, "case")), assay.paged(shown, 200, part => assay.table(
      [{ title: "case" }, { title: set.matrix ? "type" : "who" }, { title: "" }, { title: "elements", number: true }, { title: "why" }],
      part.map(c => ({ to: [...set.at, c.family, c.column, c.name, c.inputs], cells: [assay.link([...set.at, c.family, c.column, c.name, c.inputs], c.name || c.family), c.column, assay.badge(c.status),
        assay.grouped(c.elements), h("small", {}, c.detail.split("\n")[0].slice(0, 140))] })))));
  };
  input.addEventListener("input", draw);
  select.addEventListener("change", draw);
  draw();
  return h("section", { class: "card" }, h("div", { class: "bar" }, input, select), box);
};

const casePage = (set, family, one) => {
  const h = assay.h;
  return [h("h2", {}, one.name || family.n), assay.card("", h("p", {}, assay.badge(one.status)), one.detail ? h("pre", {}, one.detail) : null,
    h("dl", {}, [["column", one.column], ["elements", assay.grouped(one.elements)], ["with one right answer", assay.percent(one.forced, one.elements)], ["outside their bound", assay.grouped(one.failed)],
      ["undecided", assay.grouped(one.inconclusive)], ["bound used", one.used ? (100 * one.used).toPrecision(3) + " %" : "–"], ["compiled in", assay.seconds(one.compile)],
      ["ran in", assay.seconds(one.ran)], one.source && ["module", one.source], one.inputs && ["inputs", one.inputs]].filter(Boolean).map(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]))),
    h("h2", {}, "Again"), assay.card("", assay.command(assay.repeat(set.run, one)))];
};

const setPage = sort => async (id, name, column, rest, inputs) => {
  const set = await assay.dataset(sort, id), h = assay.h;
  const title = sort === "kind" ? assay.what(set.run) : `Run ${set.run.id}: ${assay.what(set.run)}`;
  const home = sort === "kind" ? ["Overview", ["overview"]] : ["Runs", ["runs"]];
  if (name === undefined) {
    if (set.run.verb === "fuzz") return assay.campaignPage(set.run);
    const ulps = set.run.verb === "accuracy" ? (await assay.load("ulps")).filter(one => one.run === set.run.id) : [];
    const speed = set.run.verb === "bench" ? await assay.speedCards(set.run.id) : [];
    const history = set.kind ? set.kind.runs.map(i => assay.runs.get(i)).reverse() : [];
    return [assay.crumbs(home, title), h("h2", {}, title), assay.card("", h("p", {}, assay.badges(set.counts)), runFacts(set.run),
      history.length > 1 ? [h("p", { class: "soft" }, `${assay.count(history.length, "run")}, oldest left:`), assay.columns(history), h("p", {}, assay.link(["compare", String(history[history.length - 2].id), String(history[history.length - 1].id)], "What changed in the last run"))] : null),
      ulps.map(one => assay.ulpCard(one, ulps)), speed, set.families.length ? heatCard(set) : null, set.matrix || !set.families.length ? null : assay.card("", familyTable(set))];
  }
  const family = set.families.find(f => f.n === name);
  if (!family) throw new Error(`There is no ${name} in this run.`);
  const cases = (await assay.cases(set, family)).map(c => ({ ...c, family: name })).filter(c => !column || c.column === column);
  if (rest !== undefined) {
    const one = cases.find(c => c.name === rest && (!inputs || c.inputs === inputs));
    if (!one) throw new Error(`There is no case ${rest}.`);
    return [assay.crumbs(home, [title, set.at], [name, [...set.at, name]], [column || "all", [...set.at, name, column]]), casePage(set, family, one)];
  }
  const rank = s => assay.isBad(s) ? 0 : s === "passed" ? 2 : 1;
  cases.sort((a, b) => rank(a.status) - rank(b.status));
  return [assay.crumbs(home, [title, set.at], ...(column ? [[name, [...set.at, name]]] : [])), h("h2", {}, column ? `${name}, ${column}` : name), caseTable(set, cases)];
};
assay.pages.kind = { section: "overview", show: setPage("kind") };
assay.pages.run = { section: "runs", show: setPage("run") };

// Where matrices differ: the ops and types that are not judged alike everywhere, and how many are wrong on one backend alone.
const differences = sets => {
  const h = assay.h, rows = [], alone = sets.map(() => 0);
  let partly = 0;
  const names = [...new Set(sets.flatMap(set => set.families.map(f => f.n)))].sort();
  for (const name of names) {
    const families = sets.map(set => set.families.find(f => f.n === name));
    const types = [...new Set(families.flatMap(f => Object.keys((f && f.c) || {})))].sort(byType);
    const cells = families.map(() => []);
    for (const type of types) {
      const tones = families.map(f => worst(named(((f && f.c) || {})[type] || {})));
      // A run that looked at a part says nothing about the rest.
      const there = tones.filter(t => t[0] !== "empty");
      if (there.length < tones.length) ++partly;
      if (new Set(there.map(t => t[0])).size < 2) continue;
      const wrong = tones.flatMap((t, i) => t[0] === "bad" ? [i] : []);
      if (wrong.length === 1) ++alone[wrong[0]];
      tones.forEach((t, i) => cells[i].push([type, ...t]));
    }
    if (cells[0].length) rows.push([name, cells, cells.some(c => c.some(([, tone]) => tone === "bad"))]);
  }
  rows.sort((x, y) => y[2] - x[2]);
  const words = { passed: "good", bad: "bad", mild: "mild", none: "none", empty: "none" };
  return assay.card("Where they differ", h("p", { class: "soft" }, "Op and type cells that are wrong on one alone: ", sets.map((set, i) => `${i ? ", " : ""}${assay.grouped(alone[i])} on ${set.run.backend}`), ". ", partly ? `${assay.grouped(partly)} cells are not there on all, which is no difference.` : ""),
    assay.paged(rows, 40, part => assay.table([{ title: "op" }, ...sets.map(set => ({ title: assay.who(set.run) }))], part.map(([name, cells]) => [h("span", { class: "word" }, name), ...cells.map((cell, i) => {
      const by = new Map();
      for (const [type, tone, letter] of cell) by.set(tone + letter, [...(by.get(tone + letter) || []), [type, tone, letter]]);
      return [...by.values()].map(group => h("div", {}, h("span", { class: "badge " + words[group[0][1]] }, group[0][2] || "no cell"),
        group.map(([type, tone]) => [" ", tone === "empty" ? type : assay.link([...sets[i].at, name, type], type)])));
    })]), "Every cell that they share is judged alike.")));
};

// Every matrix that is known; where there are several, first how they differ.
assay.pages.matrix = {
  show: async () => {
    const index = assay.data.index, h = assay.h;
    const kinds = index.kinds.map((kind, i) => [i, kind, assay.newestOf(kind)]).filter(([, kind, run]) => kind.counts && run.verb === "conform" && run.suite === "matrix");
    if (!kinds.length) return [h("h2", {}, "Conformance matrix"), h("p", {}, "No run of the matrix is in the store."), assay.command("assay conform --suite matrix --tier ci --backend cpu")];
    const sets = await Promise.all(kinds.map(([i]) => assay.dataset("kind", i)));
    return [h("h2", {}, "Conformance matrix"), sets.length > 1 ? differences(sets) : null, sets.map(set => [h("h3", {}, `${assay.who(set.run)}, tier ${set.run.tier || "smoke"} `, assay.link(set.at, "details")), h("p", {}, assay.badges(set.counts)), heatCard(set)])];
  },
};

assay.pages.runs = {
  show: async () => {
    const h = assay.h;
    return [h("h2", {}, "Runs"), assay.card("", assay.paged(assay.data.index.runs, 200, part => assay.table(
      [{ title: "run", number: true }, { title: "started" }, { title: "what" }, { title: "judged" }, { title: "results" }, { title: "took", number: true }, { title: "commit" }],
      part.map(run => ({ to: ["run", String(run.id)], cells: [assay.link(["run", String(run.id)], String(run.id)), assay.time(run.ms), h("code", {}, run.command.slice(0, 90)), assay.who(run),
        run.cases ? assay.badges(run.counts) : run.programs !== undefined ? `${assay.count(run.programs, "program")}, ${assay.count(run.findings, "finding")}` : "", assay.seconds(run.seconds), h("code", { class: "word" }, run.commit)] })))))];
  },
};

// The cases of a family by name, one of each column and inputs.
const keyed = cases => new Map(cases.map(c => [[c.name, c.column === undefined ? "" : c.column, c.inputs].join("\u0000"), c]));
const changesOf = async (a, b, sameSubject) => {
  const changes = [];
  const families = new Map(a.families.map(f => [f.n, [f, null]]));
  for (const f of b.families) families.set(f.n, [families.has(f.n) ? families.get(f.n)[0] : null, f]);
  for (const [name, [x, y]] of families) {
    if (x && y && x.d === y.d) continue;
    const strip = c => ({ ...c, own: c.column, column: sameSubject || a.matrix ? c.column : "" });
    const before = keyed((x ? await assay.cases(a, x) : []).map(strip)), after = keyed((y ? await assay.cases(b, y) : []).map(strip));
    for (const [key, one] of before) {
      const other = after.get(key);
      if (!other || other.status !== one.status) changes.push({ family: name, name: one.name, column: one.column, from: one.status, to: other ? other.status : "not there", detail: (other || one).detail, at: [...(other ? b : a).at, name, (other || one).own, one.name, (other || one).inputs] });
    }
    for (const [key, other] of after) if (!before.has(key)) changes.push({ family: name, name: other.name, column: other.column, from: "not there", to: other.status, detail: other.detail, at: [...b.at, name, other.own, other.name, other.inputs] });
  }
  return changes;
};

// Runs without verdicts have figures by name: {name: [value, how it is written, whether more is worse]}.
const figuresOf = async run => {
  const figures = new Map();
  if (run.verb === "bench") for (const one of (await assay.load("speed")).filter(one => one.run === run.id)) for (const [name, metric, who, value] of one.rows) {
    if (/_seconds$/.test(metric) && name !== "machine") figures.set(`${name}: ${assay.metricNames[metric] || metric}${who === run.backend ? "" : ", " + who}`, [value, assay.seconds, true]);
  }
  if (run.verb === "accuracy") for (const one of (await assay.load("ulps")).filter(one => one.run === run.id)) for (const [name, m] of one.functions) {
    figures.set(`${name}: worst, in ulps`, [m.worst || 0, assay.number, true]);
  }
  if (run.verb === "fuzz") for (const one of (await assay.load("campaigns")).runs.filter(one => one.run === run.id)) {
    for (const name of ["programs", "compared", "inconclusive", "findings", "buckets"]) figures.set(name === "buckets" ? "distinct bugs" : name, [one.figures[name] || 0, assay.grouped, name === "findings" || name === "buckets" || name === "inconclusive"]);
    for (const bug of await assay.load("bugs")) if (one.buckets.includes(bug.bucket)) figures.set("found: " + bug.title, [1, () => "yes", true]);
  }
  return figures;
};

// Figures of two runs of one verb, those that moved most first.
const compareFigures = async (a, b) => {
  const h = assay.h, x = await figuresOf(a), y = await figuresOf(b);
  const names = [...new Set([...x.keys(), ...y.keys()])];
  const moved = name => x.has(name) && y.has(name) && x.get(name)[0] > 0 && y.get(name)[0] > 0 ? y.get(name)[0] / x.get(name)[0] : x.has(name) && y.has(name) && x.get(name)[0] === y.get(name)[0] ? 1 : Infinity;
  names.sort((p, q) => Math.abs(Math.log(moved(q))) - Math.abs(Math.log(moved(p))) || 0);
  const cell = of => of ? of[1](of[0]) : "–";
  return assay.card("", assay.paged(names, 300, part => assay.table([{ title: "" }, { title: "A", number: true }, { title: "B", number: true }, { title: "B / A", number: true }], part.map(name => {
    const ratio = moved(name), worse = (x.get(name) || y.get(name))[2];
    return [name, cell(x.get(name)), cell(y.get(name)), !isFinite(ratio) ? "" : h("span", { class: worse && ratio > 1.05 ? "badge mild" : worse && ratio < 0.95 ? "badge good" : "" }, ratio.toFixed(2))];
  }), "These runs left no figures.")));
};

assay.pages.compare = {
  show: async (left, right) => {
    const h = assay.h, runs = assay.data.index.runs.filter(run => run.cases || ["bench", "accuracy", "fuzz"].includes(run.verb));
    const pick = (chosen, other) => h("select", { "aria-label": "run", onchange: e => assay.go(other(e.target.value)) }, h("option", { value: "" }, "choose a run"),
      runs.map(run => h("option", { value: run.id, selected: String(run.id) === chosen }, `${run.id}: ${assay.who(run)}, ${assay.what(run)}, ${assay.time(run.ms)}`)));
    const bar = h("div", { class: "bar" }, h("label", {}, "A ", pick(left, v => ["compare", v, right || ""])), h("label", {}, "B ", pick(right, v => ["compare", left || "", v])));
    if (!left || !right) return [h("h2", {}, "Compare two runs"), assay.card("", bar, h("p", { class: "soft" }, "Choose two runs: of runs that judge, verdicts that differ are listed; of measurements, accuracy and campaigns, their figures side by side."))];
    const one = assay.runs.get(+left), other = assay.runs.get(+right);
    if (one && other && !(one.cases && other.cases)) return [h("h2", {}, "Compare two runs"), assay.card("", bar, h("div", { class: "two" }, [one, other].map((run, i) => h("div", {}, h("h3", {}, "AB"[i] + ": " + assay.who(run)), runFacts(run))))),
      one.verb === other.verb ? await compareFigures(one, other) : h("p", {}, `A run of ${one.verb} and one of ${other.verb} have nothing in common that could be compared.`)];
    const [a, b] = await Promise.all([assay.dataset("run", left), assay.dataset("run", right)]);
    const changes = await changesOf(a, b, a.run.backend === b.run.backend);
    const table = {};
    for (const c of changes) table[`${c.from}\u0000${c.to}`] = (table[`${c.from}\u0000${c.to}`] || 0) + 1;
    const word = s => s === "not there" ? h("span", { class: "badge none" }, s) : assay.badge(s);
    const rank = c => assay.isBad(c.to) && !assay.isBad(c.from) ? 0 : assay.isBad(c.from) ? 1 : 2;
    changes.sort((x, y) => rank(x) - rank(y));
    return [h("h2", {}, "Compare two runs"), assay.card("", bar, h("div", { class: "two" }, [a, b].map((set, i) => h("div", {}, h("h3", {}, "AB"[i] + ": " + assay.who(set.run)), assay.badges(set.counts), runFacts(set.run))))),
      assay.card(`${assay.count(changes.length, "verdict")} differ`, assay.table([{ title: "A" }, { title: "B" }, { title: "cases", number: true }],
        Object.entries(table).sort((x, y) => y[1] - x[1]).map(([k, n]) => [...k.split("\u0000").map(word), assay.grouped(n)]), "The verdicts are the same."),
      changes.length ? assay.paged(changes, 300, part => assay.table([{ title: "case" }, { title: a.matrix ? "type" : "who" }, { title: "A" }, { title: "B" }, { title: "why" }],
        part.map(c => ({ to: c.at, cells: [assay.link(c.at, c.name || c.family), c.column, word(c.from), word(c.to), h("small", {}, c.detail.split("\n")[0].slice(0, 140))] })))) : null)];
  },
};
