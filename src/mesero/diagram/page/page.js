"use strict";
// Draws the recording in this page. Whatever was recorded is put in as text only, never as markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const { drawing, glossary } = JSON.parse($("drawing").textContent);
  const rows = drawing.rows || [];
  const groups = drawing.groups || [];
  const findings = drawing.findings || [];
  const links = drawing.links || [];
  const ROW = 30;
  const OVERSCAN = 12;
  const ARROWS = new Set(["request", "notification", "result", "error", "batch", "broken"]);
  const ERAS = { modern: "stateless", legacy: "handshake" };

  const make = (name, className, text) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const at = (index) => (index === undefined || index < 0 ? undefined : rows[index]);
  const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
  const duration = (s) => {
    if (s < 0.0995) return `${Number((s * 1000).toPrecision(2))} ms`;
    if (s < 0.9995) return `${Math.round(s * 1000)} ms`;
    if (s < 59.995) return `${Number(s.toPrecision(3))} s`;
    return `${Math.floor(Math.round(s) / 60)} min ${Math.round(s) % 60} s`;
  };
  const titleOf = (row) => (row.kind === "error" ? row.label : row.method || row.label);

  // -- what is shown -------------------------------------------------------------------------------------

  const CHIPS = [
    ["requests", "Requests", (row) => row.kind === "request"],
    ["answers", "Answers", (row) => row.kind === "result" || row.kind === "error"],
    ["notifications", "Notifications", (row) => row.kind === "notification"],
    ["others", "Others", (row) => !["request", "result", "error", "notification"].includes(row.kind)],
  ];
  const ONLY = [
    ["errors", "Only errors", (row) => Boolean(row.bad)],
    ["findings", "Only findings", (row) => Boolean(row.findings && row.findings.length)],
  ];
  const state = { search: "", link: "", phase: "", method: "", off: new Set(), only: new Set(), selected: -1 };
  let view = [];
  let placeOf = new Map();

  const haystacks = new Array(rows.length);
  const haystackOf = (index) => {
    if (haystacks[index] === undefined) {
      const row = rows[index];
      const own = (row.findings || []).map((each) => `${findings[each].rule} ${findings[each].message}`);
      haystacks[index] = [row.label, row.note, row.id, row.raw, row.http && row.http.url, ...own]
        .filter(Boolean).join("\n").toLowerCase();
    }
    return haystacks[index];
  };
  const isFiltered = () =>
    Boolean(state.search || state.phase || state.method || state.off.size || state.only.size);
  const passes = (row, index) => {
    if (state.method && row.method !== state.method) return false;
    if (state.phase && (row.phase || "operation") !== state.phase) return false;
    for (const [key, , test] of CHIPS) if (state.off.has(key) && test(row)) return false;
    for (const [key, , test] of ONLY) if (state.only.has(key) && !test(row)) return false;
    return !state.search || haystackOf(index).includes(state.search);
  };
  const choose = () => {
    view = [];
    const filtered = isFiltered();
    const headings = new Map();
    let shown = 0;
    rows.forEach((row, index) => {
      if (state.link && row.link !== state.link) return;
      if (row.kind === "phase") {
        headings.set(row.link, index);
        return;
      }
      if (row.kind === "gap" ? filtered : filtered && !passes(row, index)) return;
      if (headings.has(row.link)) {
        // The silence before the first line of a phase belongs to the phase before it.
        if (row.kind !== "gap") {
          view.push(headings.get(row.link));
          headings.delete(row.link);
        }
      }
      view.push(index);
      if (row.kind !== "gap") shown += 1;
    });
    placeOf = new Map(view.map((index, place) => [index, place]));
    $("rows").style.height = `${Math.max(view.length, 1) * ROW + 40}px`;
    const total = rows.filter((row) => row.kind !== "phase" && row.kind !== "gap").length;
    $("shown").textContent = shown === total ? plural(total, "line") : `${shown.toLocaleString("en")} of ${plural(total, "line")}`;
    $("sequence").scrollTop = 0;
    reveal(state.selected);
    paint(true);
  };

  // -- groups in the margin ------------------------------------------------------------------------------

  const columnOf = (() => {
    const ends = [-1, -1, -1];
    const found = new Map();
    groups.map((group, number) => [group, number]).sort((a, b) => a[0].first - b[0].first).forEach(([group, number]) => {
      const free = ends.findIndex((end) => end < group.first);
      if (group.first !== group.last && free >= 0) {
        ends[free] = group.last;
        found.set(number, free);
      }
    });
    return found;
  })();
  const drawn = [...columnOf].map(([number, column]) => [groups[number], column]);
  const marksOf = (index) => {
    const marks = make("span", "marks");
    for (const [group, column] of marksAt(index)) {
      const where = index === group.first ? " top" : index === group.last ? " end" : "";
      const mark = make("i", `c${column}${where}`);
      mark.title = group.label;
      marks.append(mark);
    }
    return marks;
  };
  // Groups by blocks of rows, so that a row looks at its neighbours only.
  const BLOCK = 256;
  const blocks = new Map();
  for (const each of drawn) {
    for (let block = Math.floor(each[0].first / BLOCK); block <= Math.floor(each[0].last / BLOCK); block += 1) {
      if (!blocks.has(block)) blocks.set(block, []);
      blocks.get(block).push(each);
    }
  }
  const marksAt = (index) =>
    (blocks.get(Math.floor(index / BLOCK)) || []).filter(([group]) => group.first <= index && index <= group.last);

  // -- rows ----------------------------------------------------------------------------------------------

  const linkNames = new Map(links.map((link) => [link.key, link.name || link.target || link.key]));
  // A lifeline for each server while there is room; the place of one is a share of the width.
  const MAX_LANES = 5;
  const lanes = links.length > MAX_LANES || !links.length ? [1] : links.map((link, number) => (number + 1) / links.length);
  const laneOf = (key) => lanes[Math.max(0, links.findIndex((link) => link.key === key))] || 1;
  const lifeAt = (share, className) => {
    const life = make("i", `life ${className}`);
    life.style.setProperty("--f", share);
    return life;
  };
  const nameLanes = () => {
    const names = ["client", ...(lanes.length > 1 ? links.map((link) => linkNames.get(link.key)) : ["server"])];
    [0, ...lanes].forEach((share, number) => {
      const name = make("span", "", names[number]);
      name.style.setProperty("--f", share);
      $("lanes").firstElementChild.append(name);
    });
    $("lanes").classList.toggle("narrow", links.length > MAX_LANES);
  };
  const isServers = (row) =>
    ["stderr", "exit"].includes(row.kind) || (["http", "text", "eof"].includes(row.kind) && row.dir === "s2c");

  const wordsOf = (row, index) => {
    const words = make("span", "words");
    const sign = row.bad === "error" ? "✗ " : row.bad === "warning" ? "? " : "";
    words.append(make("b", "", sign + row.label));
    if (row.id && ARROWS.has(row.kind)) words.append(" ", make("code", "", `#${row.id}`));
    const status = row.http && row.http.status;
    if (status && status !== 200 && ARROWS.has(row.kind)) words.append(" ", make("code", "", `HTTP ${status}`));
    if (row.note) words.append(" ", make("em", "", `${ARROWS.has(row.kind) ? "· " : ""}${row.note}`));
    words.title = [row.label, row.note].filter(Boolean).join(" · ");
    const group = at(index) && row.group !== undefined ? groups[row.group] : undefined;
    if (group && group.first === index) words.append(" ", make("span", "pill", labelOf(group)));
    return words;
  };
  const labelOf = (group) => (group.rounds > 1 ? `${group.rounds} rounds` : group.kind === "rounds" ? "asks back" : "subscription");

  const rowElement = (index, place) => {
    const row = rows[index];
    const element = make("div", `row ${row.kind} ${row.dir || ""}`);
    element.style.transform = `translateY(${place * ROW}px)`;
    element.dataset.index = index;
    if (row.kind === "phase") {
      element.append(make("span", "title", links.length > 1 ? `${row.label} · ${linkNames.get(row.link)}` : row.label));
      return element;
    }
    const when = make("span", "when");
    if (row.kind !== "gap") when.append(make("small", "", String(row.seq)), row.t.toFixed(3));
    const lane = make("span", "lane");
    const whose = laneOf(row.link);
    lane.style.setProperty("--f", whose);
    lane.append(lifeAt(0, row.kind === "gap" ? "rests" : ""));
    for (const each of lanes) {
      const isOwn = each === whose;
      lane.append(lifeAt(each, isOwn && row.kind === "gap" ? "rests" : isOwn && row.is_busy ? "works" : ""));
    }
    if (whose < 0.6) element.classList.add("near");
    if (ARROWS.has(row.kind)) lane.append(make("i", "arrow"));
    else if (row.kind !== "gap") element.classList.add("plainrow", isServers(row) ? "right" : "left");
    if (row.kind === "gap") lane.append(make("span", "words", `⋮  ${row.label}${row.note ? `, ${row.note}` : ""}`));
    else lane.append(wordsOf(row, index));
    if (row.bad) element.classList.add(`bad-${row.bad}`);
    const took = make("span", "took", row.took_s !== undefined && row.kind !== "gap" ? duration(row.took_s) : "");
    if (row.took_s > 1 && row.kind !== "gap") took.classList.add("slow");
    const flag = make("span", "flag");
    if (row.findings && row.findings.length) {
      const worst = ["error", "warning", "info"].find((each) => row.findings.some((one) => findings[one].severity === each));
      flag.append(make("span", `bad-${worst}`, `! ${row.findings.length}`));
      flag.title = row.findings.map((each) => findings[each].rule).join(", ");
    }
    element.append(when, marksOf(index), lane);
    if (links.length > MAX_LANES) element.append(make("span", "pill whose", linkNames.get(row.link) || row.link));
    element.append(took, flag);
    return element;
  };

  let painted = [-1, -1];
  const relatedTo = (index) => {
    const row = at(index);
    if (!row) return new Set();
    const head = row.request >= 0 ? row.request : index;
    const found = new Set([head, rows[head].answer, row.answer, row.request]);
    return found;
  };
  const paint = (force) => {
    const pane = $("sequence");
    const first = Math.max(0, Math.floor(pane.scrollTop / ROW) - OVERSCAN);
    const last = Math.min(view.length, Math.ceil((pane.scrollTop + pane.clientHeight) / ROW) + OVERSCAN);
    if (!force && first === painted[0] && last === painted[1]) return;
    painted = [first, last];
    const related = relatedTo(state.selected);
    const made = document.createDocumentFragment();
    for (let place = first; place < last; place += 1) {
      const index = view[place];
      const element = rowElement(index, place);
      if (index === state.selected) element.classList.add("select");
      else if (related.has(index)) element.classList.add("relate");
      made.append(element);
    }
    if (!view.length) made.append(make("p", "empty", rows.length ? "Nothing fits." : "Nothing was recorded."));
    $("rows").replaceChildren(made);
  };

  const reveal = (index) => {
    const place = placeOf.get(index);
    if (place === undefined) return;
    const pane = $("sequence");
    const top = place * ROW;
    if (top < pane.scrollTop + ROW || top > pane.scrollTop + pane.clientHeight - 3 * ROW) {
      pane.scrollTop = Math.max(0, top - pane.clientHeight / 2);
    }
  };
  const select = (index) => {
    if (!at(index)) return;
    state.selected = index;
    if (!placeOf.has(index)) clearFilters();
    reveal(index);
    showMessage(index);
    paint(true);
    history.replaceState(null, "", `#seq=${rows[index].seq}`);
  };
  const step = (by) => {
    let place = (placeOf.get(state.selected) ?? (by > 0 ? -1 : view.length)) + by;
    while (view[place] !== undefined && ["phase", "gap"].includes(rows[view[place]].kind)) place += by;
    if (view[place] !== undefined) select(view[place]);
  };

  // -- the message ---------------------------------------------------------------------------------------

  const show = (tab) => {
    for (const name of ["overview", "message"]) {
      $(name).hidden = name !== tab;
      $(`tab-${name}`).setAttribute("aria-pressed", String(name === tab));
    }
  };
  const button = (text, action) => {
    const element = make("button", "", text);
    element.type = "button";
    element.addEventListener("click", action);
    return element;
  };
  const facts = (pairs) => {
    const list = make("dl");
    for (const [name, value] of pairs) {
      if (value !== undefined && value !== "" && value !== null) list.append(make("dt", "", name), make("dd", "", String(value)));
    }
    return list;
  };
  const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)/g;
  const coloured = (text) => {
    const pre = make("pre");
    let from = 0;
    for (const match of text.matchAll(TOKEN)) {
      pre.append(text.slice(from, match.index));
      const kind = match[2] ? "k" : match[1] ? (match[1].includes("<redacted ") ? "r" : "s") : "n";
      pre.append(make("span", kind, match[1] || match[0]), match[2] || "");
      from = match.index + match[0].length;
    }
    pre.append(text.slice(from));
    return pre;
  };
  const prettyOf = (raw) => {
    try {
      return JSON.stringify(JSON.parse(raw), null, 2);
    } catch {
      return undefined;
    }
  };
  const findingElement = (finding, members) => {
    const box = make("div", `finding ${finding.severity}`);
    const head = make("div");
    head.append(make("b", "", `${finding.rule} · ${finding.severity}`), ` · ${finding.blame}`);
    box.append(head, make("div", "", finding.message));
    if (finding.path) box.append(make("div", "soft", `at ${finding.path}`));
    if (finding.fix) box.append(make("div", "fix", `Fix: ${finding.fix}`));
    const foot = make("div", "buttons");
    for (const each of members.slice(0, 12)) {
      const index = indexOfSeq(each.seq, each.link);
      if (index < 0) continue;
      const jump = button(`line ${each.seq}`, () => select(index));
      jump.className = "link";
      jump.title = each.message;
      foot.append(jump);
    }
    if (members.length > 12) foot.append(make("span", "soft", `and ${(members.length - 12).toLocaleString("en")} more`));
    if (finding.spec) foot.append(specLink(finding.spec));
    box.append(foot);
    return box;
  };
  const specLink = (address) => {
    if (!address.startsWith("https://modelcontextprotocol.io/")) return make("span", "soft", address);
    const link = make("a", "", "specification");
    link.href = address;
    link.rel = "noreferrer noopener";
    link.target = "_blank";
    return link;
  };
  const showRaw = (box, row) => {
    if (!row.raw) return;
    const pretty = row.cut_chars ? undefined : prettyOf(row.raw);
    let body = pretty === undefined ? make("pre", "", row.raw) : coloured(pretty);
    const buttons = make("div", "buttons");
    if (pretty !== undefined) {
      let isPretty = true;
      buttons.append(button("As sent", (event) => {
        isPretty = !isPretty;
        const next = isPretty ? coloured(pretty) : make("pre", "", row.raw);
        body.replaceWith(next);
        body = next;
        event.target.textContent = isPretty ? "As sent" : "Indented";
      }));
    }
    buttons.append(button("Copy", () => navigator.clipboard && navigator.clipboard.writeText(row.raw)));
    box.append(make("h2", "", row.kind === "http" ? "Body" : "Message"), buttons, body);
    if (row.cut_chars) box.append(make("p", "soft", `and ${row.cut_chars.toLocaleString("en")} more characters, in line ${row.seq} of the trace`));
  };
  const showHttp = (box, http) => {
    if (!http) return;
    box.append(make("h2", "", "HTTP"));
    box.append(facts([
      ["request", [http.method, http.url].filter(Boolean).join(" ")], ["status", http.status || ""],
      ["exchange", http.exchange], ["as", http.is_event ? "an event of a stream" : ""], ["broke", http.error],
    ]));
    const headers = Object.entries(http.headers || {});
    if (headers.length) box.append(facts(headers.map(([name, value]) => [name, [].concat(value).join(" | ")])));
  };
  const showMessage = (index) => {
    const row = rows[index];
    const box = $("message");
    const of = row.kind === "result" && row.method ? `${row.label} of ${row.method}` : row.label;
    box.replaceChildren(make("h3", "", of));
    if (row.note) box.append(make("p", row.bad ? `bad-${row.bad}` : "", row.note));
    const entry = glossary[titleOf(row)];
    if (entry) {
      const text = make("p", "soft", `${entry.title}. ${entry.meaning} `);
      if (entry.link) text.append(specLink(entry.link));
      box.append(text);
    }
    const buttons = make("div", "buttons");
    if (row.request >= 0) buttons.append(button(`← request (${rows[row.request].seq})`, () => select(row.request)));
    if (row.answer >= 0) buttons.append(button(`→ answer (${rows[row.answer].seq})`, () => select(row.answer)));
    const group = row.group >= 0 ? groups[row.group] : undefined;
    if (group) {
      const members = rows.map((each, place) => (each.group === row.group ? place : -1)).filter((place) => place >= 0);
      const here = members.indexOf(index);
      if (here > 0) buttons.append(button("↑ in the group", () => select(members[here - 1])));
      if (here < members.length - 1) buttons.append(button("↓ in the group", () => select(members[here + 1])));
    }
    if (buttons.childNodes.length) box.append(buttons);
    box.append(facts([
      ["line", row.seq], ["time", `${row.t.toFixed(6)} s`], ["took", row.took_s === undefined ? "" : duration(row.took_s)],
      ["kind", row.kind], ["from", row.dir === "c2s" ? "client" : row.dir === "s2c" ? "server" : ""],
      ["connection", links.length > 1 ? linkNames.get(row.link) : ""], ["id", row.id], ["phase", row.phase || "operation"],
      ["era", row.era ? `${ERAS[row.era]}${row.revision ? `, ${row.revision}` : ""}` : "unknown"],
      ["group", group && group.label], ["size", row.size ? `${row.size.toLocaleString("en")} bytes` : ""],
    ]));
    for (const each of row.findings || []) box.append(findingElement(findings[each], []));
    showHttp(box, row.http);
    showRaw(box, row);
    show("message");
  };

  // -- the overview --------------------------------------------------------------------------------------

  const indices = new Map();
  rows.forEach((row, index) => {
    const key = `${row.link}\n${row.seq}`;
    if (row.kind !== "phase" && row.kind !== "gap" && !indices.has(key)) indices.set(key, index);
  });
  const indexOfSeq = (seq, link) => indices.get(`${link}\n${seq}`) ?? -1;

  const SVG = "http://www.w3.org/2000/svg";
  const draw = (parent, name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  };
  const latencyChart = () => {
    const stats = (drawing.latencies || []).slice(0, 20);
    const times = new Map(stats.map((each) => [each.method, []]));
    rows.forEach((row, index) => {
      if (row.took_s !== undefined && times.has(row.method)) times.get(row.method).push(index);
    });
    const width = 398, left = 12, right = 12, line = 40, top = 20;
    const height = top + stats.length * line + 6;
    const all = stats.flatMap((each) => [each.max_s, each.median_s]).filter((each) => each > 0);
    const lows = [...times.values()].flat().reduce((low, index) => (rows[index].took_s > 0 ? Math.min(low, rows[index].took_s) : low), Infinity);
    const from = Math.floor(Math.log10(Math.max(1e-5, Math.min(lows, 1)))), to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...all, 1e-4))));
    const x = (s) => left + ((Math.log10(Math.max(s, 10 ** from)) - from) / (to - from)) * (width - left - right);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", "Latency of each method, on a logarithmic scale");
    for (let power = from; power <= to; power += 1) {
      const place = x(10 ** power);
      draw(svg, "line", { x1: place, x2: place, y1: top - 4, y2: height - 4, class: "grid" });
      const anchor = power === from ? "start" : power === to ? "end" : "middle";
      draw(svg, "text", { x: place, y: 12, "text-anchor": anchor, class: "tick" }, duration(10 ** power));
    }
    stats.forEach((each, number) => {
      const y = top + number * line;
      const name = draw(svg, "text", { x: left, y: y + 13, class: "name" }, each.method.length > 34 ? `${each.method.slice(0, 33)}…` : each.method);
      name.addEventListener("click", () => { state.method = each.method; $("method").value = each.method; choose(); });
      draw(svg, "text", { x: width - right, y: y + 13, "text-anchor": "end", class: "tick" }, `${each.count.toLocaleString("en")} × ${duration(each.median_s)}`);
      const members = times.get(each.method);
      if (members.length <= 120) {
        for (const index of members) {
          const dot = draw(svg, "circle", { cx: x(rows[index].took_s), cy: y + 26, r: 4, class: rows[index].bad === "error" ? "dot bad" : "dot" });
          draw(dot, "title", {}, `${rows[index].label}: ${duration(rows[index].took_s)}`);
          dot.addEventListener("click", () => select(index));
        }
      } else {
        const bins = new Array(100).fill(0);
        for (const index of members) bins[Math.min(99, Math.floor(((x(rows[index].took_s) - left) / (width - left - right)) * 100))] += 1;
        const most = Math.max(...bins);
        const size = (width - left - right) / 100;
        bins.forEach((count, bin) => {
          const tall = count ? Math.max(1.5, (count / most) * 18) : 0;
          if (tall) draw(svg, "rect", { x: left + bin * size, y: y + 36 - tall, width: size, height: tall, class: "bar" });
        });
      }
      draw(svg, "line", { x1: x(each.median_s), x2: x(each.median_s), y1: y + 18, y2: y + 36, class: "median" });
    });
    return svg;
  };
  const showOverview = () => {
    const box = $("overview");
    for (const each of drawing.diagnoses || []) {
      const cause = make("div", "finding error");
      cause.append(make("b", "", each.symptom), make("div", "", each.cause));
      cause.append(make("div", "soft", `at fault: ${each.blame} · phase: ${each.phase} · ${each.confidence}`));
      cause.append(make("div", "fix", `Fix: ${each.fix}`));
      const foot = make("div", "buttons");
      for (const seq of each.evidence.slice(0, 12)) {
        const index = indexOfSeq(seq, each.link);
        if (index < 0) continue;
        const jump = button(`line ${seq}`, () => select(index));
        jump.className = "link";
        foot.append(jump);
      }
      cause.append(foot);
      if (each === drawing.diagnoses[0]) box.append(make("h2", "", "What went wrong"));
      box.append(cause);
    }
    box.append(make("h2", "", links.length === 1 ? "Connection" : "Connections"));
    for (const link of links) {
      box.append(facts([
        ["name", link.name || link.key], ["over", link.transport], ["target", link.target],
        ["era", (link.eras || []).map((era) => ERAS[era]).join(", ") || "unknown"],
      ]));
    }
    box.append(make("h2", "", findings.length ? plural(findings.length, "finding") : "Findings"));
    if (!findings.length) box.append(make("p", "soft", "None."));
    const order = { error: 0, warning: 1, info: 2 };
    const byRule = new Map();
    for (const each of findings) {
      if (!byRule.has(each.rule)) byRule.set(each.rule, []);
      byRule.get(each.rule).push(each);
    }
    const sorted = [...byRule.values()].sort((a, b) => order[a[0].severity] - order[b[0].severity]);
    box.append(...sorted.map((members) => findingElement(members[0], members)));
    if ((drawing.latencies || []).length) {
      box.append(make("h2", "", "Latency by method"), latencyChart());
      box.append(make("p", "soft", "Each dot or bar is answers, the line is the median; the scale is logarithmic."));
    }
    const problems = [...(drawing.problems || [])];
    if (drawing.left_out) problems.push(`${plural(drawing.left_out, "more line")} not drawn`);
    if (problems.length) {
      box.append(make("h2", "", "About the file"));
      for (const each of problems) box.append(make("p", "soft", each));
    }
  };

  // -- the page ------------------------------------------------------------------------------------------

  const fill = (id, all, values) => {
    $(id).append(new Option(all, ""), ...values.map(([value, text]) => new Option(text, value)));
    $(id).hidden = values.length < 2;
    $(id).addEventListener("change", () => { state[id] = $(id).value; choose(); });
  };
  const chip = ([key, text], set, isPressed) => {
    const element = button(text, () => {
      if (set.has(key)) set.delete(key); else set.add(key);
      element.setAttribute("aria-pressed", String(isPressed()));
      choose();
    });
    element.setAttribute("aria-pressed", String(isPressed()));
    $("chips").append(element);
    return () => element.setAttribute("aria-pressed", String(isPressed()));
  };
  const chips = [
    ...CHIPS.map((each) => chip(each, state.off, () => !state.off.has(each[0]))),
    ...ONLY.map((each) => chip(each, state.only, () => state.only.has(each[0]))),
  ];
  const clearFilters = () => {
    Object.assign(state, { search: "", link: "", phase: "", method: "" });
    state.off.clear();
    state.only.clear();
    for (const id of ["search", "link", "phase", "method"]) $(id).value = "";
    chips.forEach((update) => update());
    choose();
  };
  let timer;
  $("search").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => { state.search = $("search").value.trim().toLowerCase(); choose(); }, 120);
  });
  let isWaiting = false;
  $("sequence").addEventListener("scroll", () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => { isWaiting = false; paint(false); });
  });
  window.addEventListener("resize", () => paint(true));
  $("rows").addEventListener("click", (event) => {
    const element = event.target.closest(".row");
    if (element && !["phase", "gap"].includes(rows[element.dataset.index].kind)) select(Number(element.dataset.index));
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, select");
    if (event.key === "Escape") { clearFilters(); $("sequence").focus(); return; }
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") { event.preventDefault(); $("search").focus(); }
    if (event.key === "j" || event.key === "ArrowDown") { event.preventDefault(); step(1); }
    if (event.key === "k" || event.key === "ArrowUp") { event.preventDefault(); step(-1); }
  });
  $("tab-overview").addEventListener("click", () => show("overview"));
  $("tab-message").addEventListener("click", () => (at(state.selected) ? show("message") : step(1)));

  const errors = rows.filter((row) => row.bad === "error").length;
  document.title = drawing.name ? `${drawing.name} · MCP trace` : "MCP trace";
  $("title").textContent = drawing.name || "MCP trace";
  const bad = make("b", errors ? "bad" : "", plural(errors, "error"));
  $("facts").append(
    make("b", "", plural(drawing.messages || 0, "message")), " in ", make("b", "", duration(drawing.duration_s || 0)), " · ", bad, " · ",
    make("b", "", plural(findings.length, "finding")), drawing.started ? ` · since ${drawing.started}` : "", drawing.by ? ` · recorded by ${drawing.by}` : "",
  );
  const phases = [...new Set(rows.map((row) => row.phase || "operation"))];
  const methods = [...new Set(rows.map((row) => row.method).filter(Boolean))].sort();
  fill("link", "All connections", links.map((link) => [link.key, link.name || link.key]));
  fill("phase", "All phases", phases.map((phase) => [phase, phase]));
  fill("method", "All methods", methods.map((method) => [method, method]));
  nameLanes();
  showOverview();
  choose();
  const wanted = /^#seq=(\d+)$/.exec(location.hash);
  if (wanted) select(rows.findIndex((row) => row.seq === Number(wanted[1]) && row.kind !== "phase" && row.kind !== "gap"));
  document.documentElement.dataset.ready = "true";
})();
