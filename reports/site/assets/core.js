// What all pages share: data files, elements, words, the way from an address to a page, keys.
"use strict";
const assay = { data: {}, waiting: {}, sections: [], pages: {} };

// Data files are scripts that call this: a page opened from disk may not read files.
assay.give = (key, value) => { assay.data[key] = value; };

assay.load = key => {
  if (key in assay.data) return Promise.resolve(assay.data[key]);
  if (!assay.waiting[key]) {
    assay.waiting[key] = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = "data/" + key + ".js" + (assay.stamp ? "?" + assay.stamp : "");
      script.onload = () => resolve(assay.data[key]);
      script.onerror = () => reject(new Error("data/" + key + ".js is missing: write the report again"));
      document.head.append(script);
    });
  }
  return assay.waiting[key];
};

// An element. Text is always text: nothing that comes from data is read as HTML.
assay.h = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== ""));
  return element;
};

assay.grouped = n => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
assay.percent = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(1) + " %" : "–";
assay.seconds = s => s === 0 || !isFinite(s) ? "–" : s < 1e-3 ? (s * 1e6).toPrecision(3) + " µs" : s < 1 ? (s * 1e3).toPrecision(3) + " ms"
  : s < 120 ? s.toPrecision(3) + " s" : Math.floor(s / 60) + " min " + Math.round(s % 60) + " s";
assay.time = ms => new Date(ms).toISOString().replace("T", " ").slice(0, 16) + " UTC";
assay.number = v => v === null || v === undefined ? "–" : Number.isInteger(v) && Math.abs(v) < 1e15 ? assay.grouped(v).replace(/^-,/, "-") : Math.abs(v) >= 1e4 && Math.abs(v) < 1e15 ? assay.grouped(Math.round(v)).replace(/^-,/, "-") : v.toPrecision(5);
assay.count = (n, noun) => assay.grouped(n) + " " + noun + (n === 1 ? "" : "s");

// The tone of a status word, and the letter that stands for it where there is no room for words.
assay.tones = { passed: ["passed", "✓"], failed: ["bad", "F"], crashed: ["bad", "C"], "timed out": ["bad", "T"], rejected: ["bad", "R"],
  inconclusive: ["mild", "?"], waived: ["mild", "w"], unreadable: ["bad", "U"], "not judged": ["mild", "?"], "nothing to judge": ["mild", "?"],
  unsupported: ["none", "–"], other: ["mild", "?"] };
assay.badge = (status, count) => {
  const tone = (assay.tones[status] || assay.tones.other)[0];
  return assay.h("span", { class: "badge " + (tone === "passed" ? "good" : tone) }, count === undefined ? status : assay.grouped(count) + " " + status);
};
// {status: count} as badges, in the order of data files.
assay.badges = counts => assay.data.index.statuses.filter(s => counts[s]).map(s => assay.badge(s, counts[s]));
assay.isBad = status => (assay.tones[status] || assay.tones.other)[0] === "bad";

assay.tile = (figure, name, tone) => assay.h("div", { class: "tile " + (tone || "") }, assay.h("b", {}, figure), assay.h("span", {}, name));
assay.card = (title, ...children) => assay.h("section", { class: "card" }, title && assay.h("h3", {}, title), ...children);
assay.link = (address, ...children) => assay.h("a", { href: "#/" + address.map(encodeURIComponent).join("/") }, ...children);
assay.go = address => { location.hash = "#/" + address.map(encodeURIComponent).join("/"); };

// Rows open `row.to` by click or Enter; arrows move between them.
assay.table = (columns, rows, empty) => {
  if (!rows.length) return assay.h("p", { class: "soft" }, empty || "None.");
  const head = assay.h("tr", {}, columns.map(c => assay.h("th", { class: c.number ? "n" : "", scope: "col" }, c.title)));
  const body = rows.map((row, i) => {
    const cells = (row.cells || row).map((cell, j) => assay.h("td", { class: columns[j].number ? "n" : "" }, cell));
    return row.to ? assay.h("tr", { class: "open", tabindex: i ? "-1" : "0", onclick: e => { if (!e.target.closest("a")) assay.go(row.to); } }, cells)
      : assay.h("tr", {}, cells);
  });
  return assay.h("div", { class: "scroll" }, assay.h("table", {}, assay.h("thead", {}, head), assay.h("tbody", {}, body)));
};

// A line of text to be copied, such as a command.
assay.command = text => assay.h("pre", {}, text, navigator.clipboard
  ? assay.h("button", { class: "copy", type: "button", onclick: e => { navigator.clipboard.writeText(text); e.target.textContent = "copied"; } }, "copy") : null);

assay.crumbs = (...steps) => assay.h("p", { class: "crumbs" }, steps.map((step, i) =>
  [i ? " › " : "", typeof step === "string" ? step : assay.link(step[1], step[0])]));

// A list that grows by a button, for the browser's sake: `make` gives the element of an item.
assay.paged = (items, size, make) => {
  const box = assay.h("div", {});
  let shown = 0;
  const more = () => {
    const next = items.slice(shown, shown + size);
    shown += next.length;
    if (box.lastChild && box.lastChild.tagName === "BUTTON") box.lastChild.remove();
    box.append(make(next));
    if (shown < items.length) box.append(assay.h("button", { type: "button", onclick: more }, `${assay.grouped(items.length - shown)} more`));
  };
  more();
  return box;
};

assay.theme = next => {
  const order = ["", "light", "dark"];
  let now = document.documentElement.dataset.theme || "";
  if (next === undefined) now = order[(order.indexOf(now) + 1) % 3]; else now = next;
  if (now) document.documentElement.dataset.theme = now; else delete document.documentElement.dataset.theme;
  try { localStorage.setItem("assay-theme", now); } catch (e) { /* a page from disk may have no storage */ }
  document.getElementById("theme").textContent = "Theme: " + (now || "system");
};

assay.show = async () => {
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  const name = parts[0] || "overview";
  const view = document.getElementById("view");
  const page = assay.pages[name];
  const turn = assay.turn = {};
  let content;
  try {
    content = page ? await page.show(...parts.slice(1)) : [assay.h("h2", {}, "No such page"), assay.h("p", {}, location.hash)];
  } catch (error) {
    content = [assay.h("h2", {}, "This could not be shown"), assay.h("p", {}, String(error.message || error))];
  }
  if (assay.turn !== turn) return;  // somebody went on meanwhile
  view.replaceChildren(...[content].flat(Infinity).filter(Boolean));
  view.dataset.shown = name;
  document.getElementById("headline").hidden = name !== "overview" || !assay.data.index.runs.length;
  const section = page ? page.section || name : "";
  for (const a of document.querySelectorAll("#nav a")) {
    if (a.dataset.name === section) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  }
  const title = view.querySelector("h2");
  document.title = (title ? title.textContent + " – " : "") + assay.data.index.title;
  scrollTo(0, 0);
};

// Arrows within a heat map or the rows of a table.
assay.arrow = event => {
  const at = document.activeElement;
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!at || !step) return false;
  let to = null;
  if (at.dataset && at.dataset.r !== undefined) {
    let r = +at.dataset.r, c = +at.dataset.c;
    const table = at.closest("table");
    for (let i = 0; i < 400 && !to; ++i) {
      r += step[0]; c += step[1];
      to = table.querySelector(`td[data-r="${r}"][data-c="${c}"]`);
      if (!to && (r < 0 || c < 0 || r > 2000 || c > 200)) break;
    }
  } else if (at.tagName === "TR" && step[0]) {
    to = step[0] > 0 ? at.nextElementSibling : at.previousElementSibling;
  }
  if (!to) return false;
  at.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
  return true;
};

assay.key = event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (/INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const section = assay.sections[+event.key - 1];
  if (section) assay.go([section[0]]);
  else if (event.key === "/") { const box = document.querySelector("#view input"); if (box) box.focus(); }
  else if (event.key === "t") assay.theme();
  else if (event.key === "u") { const up = document.querySelectorAll(".crumbs a"); if (up.length) up[up.length - 1].click(); }
  else if (event.key === "Enter" && document.activeElement && /^(TR|TD)$/.test(document.activeElement.tagName)) document.activeElement.click();
  else if (!assay.arrow(event)) return;
  event.preventDefault();
};

// Behind a server (assay report serve) the data may be written again: then the page is shown anew.
assay.refresh = async () => {
  const answer = await fetch("data/index.js?" + Date.now()).catch(() => null);
  const made = answer && answer.ok && /"made_ms":(\d+)/.exec(await answer.text());
  if (!made || +made[1] === assay.data.index.made_ms || /INPUT|SELECT/.test(document.activeElement.tagName)) return;
  const y = scrollY;
  assay.stamp = made[1];
  assay.data = {};
  assay.waiting = {};
  await assay.load("index");
  assay.indexed();
  await assay.show();
  scrollTo(0, y);
};

assay.indexed = () => {
  const index = assay.data.index;
  assay.runs = new Map(index.runs.map(run => [run.id, run]));
  document.getElementById("title").textContent = index.title;
  document.getElementById("headline").replaceChildren(...index.headline.split("; ").map(part => {
    const at = part.indexOf(" (");
    return assay.h("span", {}, at < 0 ? part : [part.slice(0, at), assay.h("small", {}, part.slice(at))]);
  }));
  document.getElementById("made").textContent = `Made ${assay.time(index.made_ms)} by assay ${index.assay} ${index.commit}. `;
};

assay.start = async () => {
  let theme = new URLSearchParams(location.search).get("theme");
  try { theme = theme || localStorage.getItem("assay-theme"); } catch (e) { /* as above */ }
  assay.theme(theme || "");
  document.getElementById("theme").addEventListener("click", () => assay.theme());
  try {
    await assay.load("index");
  } catch (error) {
    document.getElementById("view").replaceChildren(assay.h("p", {}, String(error.message)));
    return;
  }
  assay.indexed();
  document.getElementById("nav").append(...assay.sections.map(([name, title], i) =>
    assay.h("a", { href: "#/" + name, "data-name": name, title: `key ${i + 1}` }, title)));
  addEventListener("hashchange", assay.show);
  addEventListener("keydown", assay.key);
  await assay.show();
  document.body.dataset.ready = "1";
  if (location.protocol.startsWith("http")) setInterval(assay.refresh, 3000);
};
