// Bugs and their causes, campaigns, accuracy.
"use strict";
const day = ms => assay.time(ms).slice(0, 10);

// Found in campaigns with planted defects alone: what they prove is that the tool finds such things.
assay.isPlanted = bug => bug.runs.length > 0 && bug.runs.every(r => { const run = assay.runs.get(r); return run && run.defect; });

const bugPage = async id => {
  const bug = await assay.load("bug-" + id), h = assay.h;
  return [assay.crumbs(["Bugs", ["bugs"]], bug.title), h("h2", {}, bug.title), assay.card("", h("dl", {}, [["kind", bug.kind], ["to blame", bug.rule || "not known"],
    ["backend", bug.backend + (bug.version ? ", " + bug.version : "")], ["found", `${assay.count(bug.findings, "time")} in ${assay.count(bug.runs.length, "campaign")}`],
    ["first", assay.time(bug.first_ms)], ["last", assay.time(bug.last_ms)], ["bucket", bug.bucket], bug.folder && ["page", bug.folder],
    bug.links && ["files", bug.links.map(([name, to]) => [h("a", { href: to.split("/").map(encodeURIComponent).join("/") }, name), " "])]].filter(Boolean).map(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]))),
    bug.program ? [h("h2", {}, `Reduced to ${assay.count(bug.instructions, "instruction")}`), assay.card("", h("pre", {}, bug.program))] : null,
    bug.folder ? [h("h2", {}, "Again"), assay.card("", assay.command(`assay replay ${bug.folder} --backend ${bug.backend}`))] : null,
    h("h2", {}, "Campaigns"), assay.card("", h("p", {}, bug.runs.map(r => [assay.link(["run", String(r)], "run " + r), " "])), h("p", { class: "soft" }, "programs ", bug.cases.join(", ")))];
};

const causePage = async id => {
  const cause = await assay.load("cause-" + id), h = assay.h, m = cause.measured || {};
  const flags = Object.entries(m.flags || {});
  return [assay.crumbs(["Bugs", ["bugs"]], cause.name), h("h2", {}, cause.title), assay.card("", h("dl", {}, [["severity", cause.severity], ["component", cause.component], ["status", cause.status + (cause.reason ? ": " + cause.reason : "")],
    ["broken sentence", cause.sentence], ["found by", cause.found_by], ["seen on", m.seen_on], ["to blame", m.verdict || m.pass], ["numpy", m.numpy], ["releases", m.releases], ["first bad", m.first_bad]]
    .filter(([, v]) => v).map(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]))),
    m.expected || m.got ? assay.card("", h("div", { class: "two" }, h("div", {}, h("h3", {}, "Right"), h("pre", {}, m.expected || "–")), h("div", {}, h("h3", {}, "Got"), h("pre", {}, m.got || m.message || "–")))) : null,
    cause.program ? [h("h2", {}, "Program"), assay.card("", h("pre", {}, cause.program), (m.inputs || []).length ? h("pre", {}, m.inputs.join("\n")) : null)] : null,
    flags.length ? assay.card("Under flags", assay.table([{ title: "flag" }, { title: "state" }], flags)) : null,
    (m.fails || []).length || (m.passes || []).length ? assay.card("Siblings", h("dl", {}, h("dt", {}, "fail, too"), h("dd", {}, (m.fails || []).join("; ") || "–"), h("dt", {}, "pass"), h("dd", {}, (m.passes || []).join("; ") || "–"))) : null,
    cause.command ? [h("h2", {}, "Again"), assay.card("", assay.command(cause.command))] : null];
};

// The causes of ledgers, by words in them.
const causesCard = causes => {
  const h = assay.h, input = h("input", { type: "search", placeholder: "filter (/)", "aria-label": "filter causes" }), box = h("div", {});
  const tally = new Map();
  causes.forEach(c => tally.set(c.severity, (tally.get(c.severity) || 0) + 1));
  const draw = () => {
    const shown = causes.filter(c => `${c.title} ${c.name} ${c.severity} ${c.component} ${c.status}`.toLowerCase().includes(input.value.toLowerCase()));
    box.replaceChildren(h("p", { class: "soft" }, assay.count(shown.length, "cause")), assay.paged(shown, 200, part => assay.table([{ title: "cause" }, { title: "severity" }, { title: "component" }, { title: "status" }],
      part.map(c => ({ to: ["bugs", "cause", String(c.id)], cells: [assay.link(["bugs", "cause", String(c.id)], c.title), h("span", { class: "word" }, c.severity), c.component, h("span", { class: "badge " + (c.status === "live" ? "bad" : "good") }, c.status)] })))));
  };
  input.addEventListener("input", draw);
  draw();
  return assay.card("", h("p", { class: "soft" }, [...tally].sort((a, b) => b[1] - a[1]).map(([s, n]) => `${n} ${s}`).join(", "), ". Live: it still was so on the release that it was last run on, which its page names."), h("div", { class: "bar" }, input), box);
};

assay.pages.bugs = {
  show: async (sort, id) => {
    if (sort === "bug") return bugPage(id);
    if (sort === "cause") return causePage(id);
    const h = assay.h, bugs = await assay.load("bugs"), causes = await assay.load("causes");
    return [h("h2", {}, "Bugs from campaigns"), assay.card("", assay.table([{ title: "bug" }, { title: "kind" }, { title: "to blame" }, { title: "backend" }, { title: "found", number: true }, { title: "first" }, { title: "last" }],
      bugs.map(b => ({ to: ["bugs", "bug", String(b.id)], cells: [[assay.link(["bugs", "bug", String(b.id)], b.title), assay.isPlanted(b) ? [" ", h("span", { class: "badge none" }, "planted")] : null], b.kind, h("code", {}, b.rule || "–"), b.backend, assay.grouped(b.findings), day(b.first_ms), day(b.last_ms)] })), "No campaign of this store found one.")),
      causes.length ? [h("h2", {}, "Known causes"), causesCard(causes)] : null];
  },
};

assay.campaignPage = async run => {
  const data = await assay.load("campaigns"), h = assay.h;
  const one = data.runs.find(c => c.run === run.id), f = one ? one.figures : {};
  const bugs = (await assay.load("bugs")).filter(b => b.runs.includes(run.id));
  const stages = Object.entries(f.stages || {}), whole = stages.reduce((a, [, s]) => a + s, 0);
  const tone = f.defect ? (f.findings ? "good" : "bad") : f.findings ? "bad" : "good";
  return [assay.crumbs(["Campaigns", ["campaigns"]], "run " + run.id), h("h2", {}, `Campaign on ${assay.who(run)}`), assay.card("", h("p", { class: "soft" }, h("code", {}, run.command), ` ${assay.time(run.ms)}, ${assay.seconds(run.seconds)}`),
    h("div", { class: "tiles" }, assay.tile(assay.grouped(f.programs || 0), "programs"), assay.tile(f.seconds ? assay.grouped(f.programs / f.seconds) + " /s" : "–", "rate"), assay.tile(assay.grouped(f.compared || 0), "compared"),
      assay.tile(assay.percent(f.inconclusive || 0, f.programs), "inconclusive"), assay.tile(assay.grouped(f.findings || 0), "findings", tone), assay.tile(assay.grouped(f.buckets || 0), "distinct", tone)),
    f.defect ? h("p", {}, "with the planted defect ", h("code", {}, f.defect)) : null),
    assay.card("Bugs", assay.table([{ title: "bug" }, { title: "kind" }, { title: "to blame" }], bugs.map(b => ({ to: ["bugs", "bug", String(b.id)], cells: [assay.link(["bugs", "bug", String(b.id)], b.title), b.kind, b.rule || "–"] })))),
    whole ? assay.card("Time by stage", assay.table([{ title: "stage" }, { title: "share", number: true }, { title: "seconds", number: true }], stages.sort((a, b) => b[1] - a[1]).map(([s, t]) => [s, assay.percent(t, whole), t.toPrecision(3)]))) : null,
    f.rules ? assay.card(`${f.rule_count} kinds of compiler decisions were taken; the most frequent`, assay.table([{ title: "rule" }, { title: "times", number: true }], f.rules.map(([r, n]) => [h("code", {}, r), assay.grouped(n)]))) : null];
};

assay.pages.campaigns = {
  show: async () => {
    const data = await assay.load("campaigns"), h = assay.h;
    // Distinct bugs over all programs, oldest campaign first, by backend and without planted defects.
    const totals = new Map();
    for (const one of [...data.runs].reverse()) {
      const run = assay.runs.get(one.run);
      if (one.figures.defect) continue;
      if (!totals.has(run.backend)) totals.set(run.backend, { seen: new Set(), values: [], labels: [], titles: [], places: [], programs: 0 });
      const t = totals.get(run.backend);
      one.buckets.forEach(b => t.seen.add(b));
      t.programs += one.figures.programs || 0;
      t.places.push(t.programs);
      t.values.push(t.seen.size);
      t.labels.push(assay.grouped(t.programs));
      t.titles.push(`${assay.time(run.ms)}: ${assay.count(t.seen.size, "distinct bug")} in ${assay.count(t.programs, "program")}`);
    }
    const going = data.journals.map(j => assay.card((j.ended ? "Ended: " : "Going on: ") + j.journal, h("div", { class: "tiles" }, assay.tile(assay.grouped(j.programs || 0) + (j.count ? " of " + assay.grouped(j.count) : ""), "programs"),
      assay.tile(assay.grouped(j.findings || 0), j.findings === 1 ? "confirmed finding" : "confirmed findings", j.findings ? "bad" : "good"), assay.tile(String(j.seed), "seed"), assay.tile((j.backends || []).join(", "), "backend")),
      (j.progress || []).length > 1 ? assay.lines({ title: "findings over programs", counts: true, places: j.progress.map(p => p[0]), values: j.progress.map(p => p[1]), labels: j.progress.map(p => assay.grouped(p[0])), titles: j.progress.map(p => `${assay.count(p[1], "finding")} after ${assay.count(p[0], "program")}`) }) : null));
    return [h("h2", {}, "Campaigns"), going, [...totals].filter(([, t]) => t.values.length > 1).map(([backend, t]) => assay.card(`Distinct bugs of ${backend} over programs`, assay.lines({ title: "distinct bugs over programs", counts: true, ...t }))),
      assay.card("", assay.table([{ title: "run", number: true }, { title: "started" }, { title: "backend" }, { title: "programs", number: true }, { title: "rate", number: true }, { title: "inconclusive", number: true }, { title: "findings", number: true }, { title: "distinct", number: true }, { title: "planted" }],
        data.runs.map(one => { const run = assay.runs.get(one.run), f = one.figures; return { to: ["run", String(run.id)], cells: [assay.link(["run", String(run.id)], String(run.id)), assay.time(run.ms), assay.who(run), assay.grouped(f.programs || 0),
          f.seconds ? assay.grouped(f.programs / f.seconds) + " /s" : "–", assay.percent(f.inconclusive || 0, f.programs), assay.grouped(f.findings || 0), assay.grouped(f.buckets || 0), f.defect || ""] }; }), "No campaign is in this store."))];
  },
};

// Results by their distance from the right answer. The nearest number is at most half an ulp away.
const ulpClasses = ["0.5", "1", "1.5", "2", "3", "4", "8", "16", "64", "1024", "more"];
const ulpStrip = m => {
  const bins = ulpClasses.map(c => m["upto." + c] || 0);
  return assay.classes(bins, ulpClasses.map((c, i) => i === 10 ? "more than 1024 ulps" : `up to ${c} ulps`), i => i > 5);
};

// One backend's functions, the worst first; what another version or backend of the report has of the same function stands beside it.
assay.ulpCard = (one, all) => {
  const h = assay.h, run = assay.runs.get(one.run), others = all.filter(o => o !== one);
  const beside = new Map(others.map(o => [o, new Map(o.functions)]));
  const count = n => n ? assay.grouped(n) : "–", input = h("input", { type: "search", placeholder: "filter (/)", "aria-label": "filter by name" }), box = h("div", {});
  const most = Math.log2(1 + Math.max(1, ...one.functions.map(([, m]) => Math.min(m.worst || 0, 1 << 20))));
  const draw = () => {
    const shown = one.functions.filter(([name]) => name.includes(input.value)).sort((a, b) => (b[1].worst || 0) - (a[1].worst || 0));
    box.replaceChildren(assay.paged(shown, 60, part => assay.table([{ title: "function" }, { title: "worst, in ulps" }, { title: "", number: true }, { title: "at" }, { title: "how far results are" }, { title: "nearest", number: true },
      { title: "flushed", number: true }, { title: "other class", number: true }, { title: "order", number: true }, { title: "mirror", number: true }, ...others.map(o => ({ title: assay.who(assay.runs.get(o.run)), number: true }))],
      part.map(([name, m]) => [name, assay.bar(Math.log2(1 + Math.min(m.worst || 0, 1 << 20)) / most), assay.number(m.worst), m.worst > 0.5 && m.worst_at !== undefined ? h("code", {}, assay.number(m.worst_at)) : "–", ulpStrip(m), assay.percent(m.nearest || 0, m.inputs),
        count(m.flushed), count(m.other_class), count(m.not_monotone), count(m.not_symmetric), ...others.map(o => { const its = beside.get(o).get(name); return its ? assay.number(its.worst) : "–"; })]))));
  };
  input.addEventListener("input", draw);
  draw();
  return assay.card(`${assay.who(run)}: functions in ulps`, h("p", { class: "soft" }, `${assay.count(one.functions.length, "function")} of one type each, ${assay.time(run.ms)}, `, h("code", {}, run.command), ". Zero where a subnormal number is right, a wrong class (NaN, infinity, number), neighbours in the wrong order and mirror images that are none are counted beside."),
    h("div", { class: "bar" }, input), box);
};

assay.pages.accuracy = {
  show: async () => {
    const index = assay.data.index, h = assay.h, cards = [];
    for (let i = 0; i < index.kinds.length; ++i) {
      if (!index.kinds[i].counts) continue;
      const set = await assay.dataset("kind", i);
      const families = set.families.filter(f => f.h).sort((a, b) => b.w - a.w);
      if (!families.length) continue;
      cards.push(assay.card(`${assay.who(set.run)}: ${assay.what(set.run)}`, h("p", { class: "soft" }, "Cases by the share of the allowed deviation that their worst element used: 20 bins from 0 to 100 %, and what lies beyond. Answers of which only one is right are left out."),
        assay.paged(families, 60, part => assay.table([{ title: set.matrix ? "op" : "family" }, { title: "share of the bound" }, { title: "worst", number: true }, { title: "in" }, { title: "elements", number: true }, { title: "one right answer", number: true }],
          part.map(f => ({ to: [...set.at, f.n], cells: [assay.link([...set.at, f.n], f.n), assay.strip(f.h), (100 * f.w).toPrecision(3) + " %", h("small", {}, f.wc), assay.grouped(f.e), assay.percent(f.o, f.e)] }))))));
    }
    const measured = (await assay.load("ulps")).filter(one => assay.runs.has(one.run));
    cards.unshift(...measured.map(one => assay.ulpCard(one, measured)));
    return [h("h2", {}, "Accuracy"), cards.length ? cards : h("p", {}, "No run of the store noted how much of its bounds was used.")];
  },
};
