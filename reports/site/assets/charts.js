// Charts as SVG in the colours of the style sheet. All have a text for readers that do not see them.
"use strict";
assay.svg = (tag, attributes, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter(Boolean));
  return element;
};
assay.titled = (element, text) => { element.append(assay.svg("title", {}, text)); return element; };

// Tones of counts: passed, bad, mild, none.
assay.byTone = counts => {
  const sums = { passed: 0, bad: 0, mild: 0, none: 0 };
  for (const [status, n] of Object.entries(counts)) sums[(assay.tones[status] || assay.tones.other)[0]] += n;
  return sums;
};

// One column per run, oldest left; what is wrong grows from the bottom on a scale of its own.
assay.columns = runs => {
  const width = 240, height = 44, shown = runs.slice(-40);
  const step = width / Math.max(shown.length, 8);
  const total = Math.max(1, ...shown.map(run => Object.values(run.counts).reduce((a, b) => a + b, 0)));
  const chart = assay.svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", preserveAspectRatio: "none",
    "aria-label": shown.length + " runs over time" });
  shown.forEach((run, i) => {
    const sums = assay.byTone(run.counts);
    let y = height;
    const link = assay.svg("a", { href: "#/run/" + run.id });
    for (const tone of ["bad", "mild", "passed", "none"]) {
      if (!sums[tone]) continue;
      const least = tone === "passed" ? 1 : 3;  // one failure of a million is seen
      const size = Math.min(y, Math.max(least, height * sums[tone] / total));
      y -= size;
      link.append(assay.svg("rect", { class: "f-" + tone, x: i * step + 0.5, y, width: Math.max(step - 1, 0.5), height: size }));
    }
    chart.append(assay.titled(link, `${assay.time(run.ms)}, ${run.commit}: ` + Object.entries(run.counts).map(([s, n]) => n + " " + s).join(", ")));
  });
  return chart;
};

assay.ticks = (low, high, most) => {
  const raw = (high - low) / most || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw) || raw;
  const all = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) all.push(Math.abs(t) < step * 1e-9 ? 0 : t);
  return all;
};

// A line over points in order. options: values (null: a gap), labels, titles, marks [{at, tone, title, label}], bands [{from, to, low, high}],
// places (where each point lies on the axis; else they are evenly apart), counts (values are whole numbers that hold until the next point).
assay.lines = options => {
  const width = 900, height = 260, left = 64, right = 14, top = (options.marks || []).some(m => m.label) ? 26 : 12, bottom = 30;
  const present = options.values.filter(v => v !== null);
  const all = present.concat(...(options.bands || []).map(b => [b.low, b.high]));
  let low = Math.min(...all), high = Math.max(...all);
  const pad = (high - low || Math.abs(high) * 0.05 || 1) * 0.08;
  low = options.counts ? 0 : low - pad; high += pad;
  const n = Math.max(options.values.length - 1, 1), places = options.places;
  const span = places ? places[places.length - 1] - places[0] || 1 : n;
  const x = i => left + (width - left - right) * (places ? places[i] - places[0] : i) / span;
  const y = v => top + (height - top - bottom) * (high - v) / (high - low);
  const chart = assay.svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": options.title });
  for (const t of assay.ticks(low, high, 5).filter(t => !options.counts || Number.isInteger(t))) {
    chart.append(assay.svg("line", { class: "grid-line", x1: left, x2: width - right, y1: y(t), y2: y(t) }),
      assay.svg("text", { class: "soft", x: left - 6, y: y(t) + 4, "text-anchor": "end" }, Math.abs(t) >= 1e5 ? t.toExponential(2) : String(+t.toPrecision(5))));
  }
  for (const b of options.bands || []) {
    chart.append(assay.svg("rect", { class: "band", x: x(Math.max(b.from - 0.5, 0)), width: Math.max(x(Math.min(b.to + 0.5, n)) - x(Math.max(b.from - 0.5, 0)), 1),
      y: y(b.high), height: Math.max(y(b.low) - y(b.high), 1) }));
  }
  let path = "", pen = "M";
  options.values.forEach((v, i) => { if (v === null) { pen = "M"; return; } path += `${options.counts && pen === "L" ? "H" + x(i).toFixed(1) : ""}${pen}${x(i).toFixed(1)} ${y(v).toFixed(1)}`; pen = "L"; });
  chart.append(assay.svg("path", { class: "line", d: path }));
  for (const mark of options.marks || []) {
    const at = x(mark.at - 0.5);
    chart.append(assay.titled(assay.svg("line", { class: "mark " + mark.tone, x1: at, x2: at, y1: top, y2: height - bottom }), mark.title));
    // What a tooltip says cannot be printed: the commit stands above its line.
    if (mark.label) chart.append(assay.svg("text", { class: "mark-name " + mark.tone, x: Math.min(Math.max(at, left + 24), width - right - 24), y: top - 8, "text-anchor": "middle" }, mark.label));
  }
  if (options.values.length <= 400) options.values.forEach((v, i) => {
    if (v !== null) chart.append(assay.titled(assay.svg("circle", { class: "dot", cx: x(i), cy: y(v), r: 2.6 }), options.titles[i]));
  });
  // A label where it does not run into the one before.
  const room = (width - left - right) / 8;
  let free = -Infinity;
  options.labels.forEach((label, i) => {
    if (x(i) < free || (places && i + 1 < places.length && x(n) - x(i) < room)) return;
    free = x(i) + room * 0.99;
    chart.append(assay.svg("text", { class: "soft", x: x(i), y: height - 10, "text-anchor": i ? "middle" : "start" }, label));
  });
  return chart;
};

// A tiny line without axes.
assay.spark = values => {
  const width = 160, height = 26, low = Math.min(...values), high = Math.max(...values);
  const points = values.map((v, i) => `${(i * width / Math.max(values.length - 1, 1)).toFixed(1)},${(2 + (height - 4) * (high - v) / (high - low || 1)).toFixed(1)}`);
  return assay.svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, style: "width:160px", role: "img", "aria-label": values.length + " points" },
    assay.svg("polyline", { class: "line", points: points.join(" ") }));
};

// How much of the bound was used: 20 bins and what lies beyond.
assay.strip = bins => assay.classes(bins, bins.map((n, i) => i < 20 ? `within ${5 * i} to ${5 * i + 5} % of the bound` : "beyond the bound"), i => i === 20);

// Counts of classes as a strip; `names` tells each, `isBad` which are in the colour of what is wrong.
assay.classes = (bins, names, isBad) => {
  const width = 12 * bins.length, most = Math.log(1 + Math.max(1, ...bins));
  return assay.svg("svg", { class: "chart", viewBox: `0 0 ${width} 18`, style: `width:${width}px`, role: "img",
    "aria-label": bins.map((n, i) => n ? `${n} ${names[i]}` : "").filter(Boolean).join(", ") },
    bins.map((n, i) => assay.titled(assay.svg("rect", { x: i * 12, y: 1, width: 11, height: 16, class: isBad(i) ? "f-bad" : "dot",
      opacity: n ? 0.15 + 0.85 * Math.log(1 + n) / most : 0.05 }), `${names[i]}: ${n}`)));
};

// A part of a whole, as a bar.
assay.bar = part => assay.svg("svg", { class: "chart", viewBox: "0 0 120 12", style: "width:120px", "aria-hidden": "true" },
  assay.svg("rect", { class: "dot", x: 0, y: 1, width: Math.max(1, 120 * part), height: 10 }));

// Points on two logarithmic axes below lines. options: points [{x, y, title}], roofs [{name, at: x => y}], xs, ys titles.
assay.loglog = options => {
  const width = 900, height = 380, left = 70, right = 16, top = 14, bottom = 44;
  const xsAll = options.points.map(p => p.x), x0 = Math.log10(Math.min(...xsAll, 0.1)) - 0.2, x1 = Math.log10(Math.max(...xsAll, 100)) + 0.2;
  const ends = options.roofs.map(r => r.at(10 ** x1));
  const ysAll = options.points.map(p => p.y).concat(ends, options.roofs.map(r => r.at(10 ** x0)));
  const y0 = Math.log10(Math.min(...ysAll)) - 0.2, y1 = Math.log10(Math.max(...ysAll)) + 0.3;
  const x = v => left + (width - left - right) * (Math.log10(v) - x0) / (x1 - x0);
  const y = v => top + (height - top - bottom) * (y1 - Math.log10(v)) / (y1 - y0);
  const chart = assay.svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": options.title });
  for (let e = Math.ceil(x0); e <= x1; ++e) chart.append(assay.svg("line", { class: "grid-line", x1: x(10 ** e), x2: x(10 ** e), y1: top, y2: height - bottom }),
    assay.svg("text", { class: "soft", x: x(10 ** e), y: height - bottom + 16, "text-anchor": "middle" }, String(+(10 ** e).toPrecision(3))));
  for (let e = Math.ceil(y0); e <= y1; ++e) chart.append(assay.svg("line", { class: "grid-line", x1: left, x2: width - right, y1: y(10 ** e), y2: y(10 ** e) }),
    assay.svg("text", { class: "soft", x: left - 6, y: y(10 ** e) + 4, "text-anchor": "end" }, e >= 9 ? 10 ** (e - 9) + " G" : e >= 6 ? 10 ** (e - 6) + " M" : (10 ** e).toExponential(0)));
  options.roofs.forEach((roof, i) => {
    const steps = Array.from({ length: 101 }, (_, k) => 10 ** (x0 + (x1 - x0) * k / 100));
    chart.append(assay.svg("polyline", { class: "line", style: `stroke:var(--c${(i + 2) % 7})`, points: steps.map(v => `${x(v).toFixed(1)},${y(roof.at(v)).toFixed(1)}`).join(" ") }),
      assay.svg("text", { class: "soft", x: x(10 ** (x0 + 0.1 + 0.18 * i)) - 4, y: y(roof.at(10 ** (x0 + 0.1 + 0.18 * i))) - 6, "text-anchor": "end" }, roof.name));
  });
  for (const p of options.points) {
    chart.append(assay.titled(assay.svg("circle", { class: "dot", cx: x(p.x), cy: y(p.y), r: 5 }), p.title));
    const isRight = x(p.x) > width * 0.7;
    if (options.points.length <= 16) chart.append(assay.svg("text", { x: x(p.x) + (isRight ? -9 : 9), y: y(p.y) + 4, "text-anchor": isRight ? "end" : "start" }, p.name));
  }
  chart.append(assay.svg("text", { class: "soft", x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, options.xs),
    assay.svg("text", { class: "soft", x: 14, y: height / 2, transform: `rotate(-90 14 ${height / 2})`, "text-anchor": "middle" }, options.ys));
  return chart;
};
