// The report's own script: the slider, the tables, the details, and colours for Bokeh's charts.
// Labels reach the page through textContent only, never as HTML.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("report-data").textContent);
  const chartItems = JSON.parse(byId("report-charts").textContent);
  const FOLDED = 20; // rows of a table before "Show all"
  const CHIPS = 40; // annotators named at the slider

  const make = (tag, words, parent, css) => {
    const node = document.createElement(tag);
    if (words !== undefined) node.textContent = words;
    if (css) node.className = css;
    if (parent) parent.append(node);
    return node;
  };
  const decimals = (value, places) => value.toFixed(places).replace("-", "−");

  // ------------------------------------------------------------ tables: sort, search, fold
  class Sortable {
    constructor(id) {
      this.id = id;
      this.body = byId(id).tBodies[0];
      this.rows = [...this.body.rows]; // rows[k] is row k of the data, whatever the order
      this.groups = id === "leaderboard" && data.groups > 1 ? data.group : undefined;
      this.heads = [...byId(id).tHead.rows[0].cells];
      this.words = this.rows.map((row) => (row.querySelector("bdi") ?? row.cells[1]).textContent.toLowerCase());
      this.order = this.rows.map((_, k) => k);
      this.column = 0;
      this.sign = 1;
      this.query = "";
      this.open = this.rows.length <= FOLDED + 5;
      this.heads.forEach((head, column) => {
        const button = head.querySelector("button");
        if (button) button.addEventListener("click", () => this.sortBy(column));
      });
      const search = document.querySelector(`input[data-table=${id}]`);
      if (search) search.addEventListener("input", () => { this.query = search.value.trim().toLowerCase(); this.show(); });
      this.matches = document.querySelector(`.matches[data-table=${id}]`) ?? make("span");
      this.all = document.querySelector(`button.all[data-table=${id}]`) ?? make("button");
      this.open ||= !search;
      this.all.addEventListener("click", () => { this.open = true; this.show(); });
      this.show();
    }

    sortBy(column) {
      const text = this.heads[column].classList.contains("text");
      const first = text || column === 0 ? 1 : -1; // names from A, ranks from 1, figures from the top
      this.sign = column === this.column && this.sorted ? -this.sign : first;
      this.column = column;
      this.sorted = true;
      this.heads.forEach((head, k) => {
        if (head.hasAttribute("aria-sort")) {
          head.setAttribute("aria-sort", k !== column ? "none" : this.sign > 0 ? "ascending" : "descending");
        }
      });
      this.sort();
    }

    sort() {
      const text = this.heads[this.column].classList.contains("text");
      const keys = this.rows.map((row) => row.cells[this.column].dataset.key ?? "");
      const compare = (a, b) => {
        if (text) return this.sign * keys[a].localeCompare(keys[b], undefined, { numeric: true });
        if (keys[a] === "" || keys[b] === "") return (keys[a] === "") - (keys[b] === "");
        return this.sign * (keys[a] - keys[b]);
      };
      this.order.sort((a, b) => compare(a, b) || a - b);
      this.show();
    }

    // A group of items is a board of its own: a line over it says so, and each shows its first rows.
    show() {
      let shown = 0, found = 0;
      const inGroup = {};
      const limit = this.groups ? Math.max(5, Math.floor(FOLDED / data.groups)) : FOLDED;
      this.body.querySelectorAll("tr.group").forEach((row) => row.remove());
      this.order.forEach((k) => {
        const row = this.rows[k], group = this.groups ? this.groups[k] : 0;
        const match = this.words[k].includes(this.query);
        found += match;
        inGroup[group] ??= 0;
        row.hidden = !match || (!this.open && inGroup[group] >= limit);
        if (this.groups && this.column === 0 && match && !inGroup[group]) this.head(group, row.cells.length);
        inGroup[group] += match;
        shown += !row.hidden;
        this.body.append(row);
        if (row.detail) { row.detail.hidden = row.hidden; this.body.append(row.detail); }
      });
      this.all.hidden = shown === found;
      this.matches.textContent = this.query ? `${found} found.` : "";
    }
  }
  Sortable.prototype.head = function head(group, width) {
    const row = make("tr", undefined, this.body, "group");
    const cell = make("th", `Group ${group + 1}: compared with each other, never with other groups`, row);
    cell.colSpan = width;
    cell.scope = "rowgroup";
  };
  const leaderboard = new Sortable("leaderboard");
  const annotators = new Sortable("annotators");
  if (byId("pairs")) new Sortable("pairs");

  // ------------------------------------------------------------ details of an item: whom it met
  const itemDetail = (row, k) => {
    const detail = make("tr", undefined, undefined, "detail");
    const cell = make("td", undefined, detail);
    cell.colSpan = row.cells.length;
    make("h4", "Met most often", cell);
    const list = make("ul", undefined, cell, "met");
    (data.met[k] ?? []).forEach(([name, won, votes]) => {
      const line = make("li", undefined, list);
      make("bdi", name, line);
      const share = Math.round((100 * won) / votes);
      make("span", `: won ${decimals(won, won % 1 ? 1 : 0)} of ${decimals(votes, votes % 1 ? 1 : 0)} (${share} %)`, line, "gone");
    });
    return detail;
  };
  const toggleItem = (k) => {
    const row = leaderboard.rows[k];
    const button = row.querySelector("button.open");
    const wanted = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(wanted));
    if (!wanted && row.detail) { row.detail.remove(); row.detail = undefined; }
    if (wanted && !row.detail) row.after((row.detail = itemDetail(row, k)));
  };
  leaderboard.rows.forEach((row, k) => {
    const button = row.querySelector("button.open");
    if (k < data.met.length) button.addEventListener("click", () => toggleItem(k));
    else button.disabled = true;
  });

  // ------------------------------------------------------------ details of an annotator
  const detailOf = (row, k) => {
    const person = data.people[k];
    const detail = make("tr", undefined, undefined, "detail");
    const cell = make("td", undefined, detail);
    cell.colSpan = row.cells.length;
    if (person.why) make("p", person.why, cell, "why");
    const grid = make("div", undefined, cell, "drill");
    const facts = make("div", undefined, grid);
    make("h4", "Evidence", facts);
    const list = make("dl", undefined, facts);
    person.evidence.forEach(([name, value]) => { make("dt", name, list); make("dd", value, list); });
    if (person.own) {
      bothRankings(person.own, row.cells[1].textContent, grid);
      const box = make("div", undefined, grid);
      moves("Places further up", person.up, box);
      moves("Places further down", person.down, box);
    } else make("p", "Has no taste of their own on the path at the chosen point.", make("div", undefined, grid), "gone");
    return detail;
  };
  const bothRankings = (own, name, grid) => {
    const box = make("div", undefined, grid);
    make("h4", "Own ranking beside the common one", box);
    const table = make("table", undefined, box);
    const head = make("tr", undefined, make("thead", undefined, table));
    ["", "in common", name].forEach((words) => { make("bdi", words, make(words ? "th" : "td", undefined, head)); });
    const body = make("tbody", undefined, table);
    own.forEach((item, place) => {
      const line = make("tr", undefined, body);
      make("td", place + 1, line, "gone");
      make("bdi", data.top[place], make("td", undefined, line));
      make("bdi", item, make("td", undefined, line));
    });
  };
  const moves = (title, moved, box) => {
    make("h4", title, box);
    const list = make("ul", undefined, box);
    moved.forEach(([item, common, own]) => {
      const line = make("li", undefined, list);
      make("bdi", item, line);
      make("span", ` from ${common} to ${own}`, line, "gone");
    });
    if (!moved.length) make("p", "None.", box, "gone");
  };
  const toggle = (k, open) => {
    const row = annotators.rows[k];
    const button = row.querySelector("button.open");
    const wanted = open ?? button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(wanted));
    if (!wanted && row.detail) { row.detail.remove(); row.detail = undefined; }
    if (wanted && !row.detail) row.after((row.detail = detailOf(row, k)));
    return button;
  };
  annotators.rows.forEach((row, k) => {
    row.querySelector("button.open").addEventListener("click", () => toggle(k));
  });
  const visit = (k) => {
    const search = document.querySelector("input[data-table=annotators]");
    search.value = annotators.query = "";
    annotators.open = true;
    annotators.show();
    const button = toggle(k, true);
    button.scrollIntoView({ block: "center" });
    button.focus({ preventScroll: true });
  };

  // ------------------------------------------------------------ the slider
  const slider = byId("time");
  const back = byId("back");
  const signOf = (deviation, bias, seeing) => (deviation ? "◆" : "") + (bias > 0 ? "◀" : bias < 0 ? "▶" : "") + (seeing ? "◐" : "");
  const wordsOf = (deviation, bias, seeing) =>
    [deviation && "own taste", bias > 0 && "leans left", bias < 0 && "leans right",
      seeing > 0 && "sees more sharply", seeing < 0 && seeing >= -1 && "sees less sharply",
      seeing < -1 && "sees the wrong way round"].filter(Boolean).join(", ");

  const moveLeaderboard = (at) => {
    const scores = data.scores[at];
    const order = scores.map((_, k) => k).sort((a, b) => data.group[a] - data.group[b] || scores[b] - scores[a] || a - b);
    const [low, high] = data.span;
    let rank = 0;
    order.forEach((k, place) => {
      rank = place && data.group[k] === data.group[order[place - 1]] ? rank + 1 : 1;
      const row = leaderboard.rows[k];
      row.cells[0].dataset.key = place;
      row.querySelector(".rank").textContent = rank;
      row.querySelector(".phone .interval").classList.toggle("stale", at !== data.chosen);
      row.querySelector(".dot").style.left = `${(100 * (scores[k] - low)) / (high - low)}%`;
      const cell = row.querySelector(".score");
      cell.dataset.key = scores[k];
      cell.textContent = decimals(scores[k], 2);
    });
    byId("leaderboard").classList.toggle("moved", at !== data.chosen);
    leaderboard.sort();
  };

  const moveAnnotators = (at) => {
    const deviation = data.deviation[at], bias = data.bias[at], seeing = data.attention[at];
    const list = byId("active");
    list.replaceChildren();
    let named = 0;
    annotators.rows.forEach((row, k) => {
      const sign = signOf(deviation[k], bias[k], seeing[k]);
      const words = wordsOf(deviation[k], bias[k], seeing[k]);
      const now = row.querySelector(".now");
      now.textContent = sign;
      now.title = words;
      if (!sign || ++named > CHIPS) return;
      const chip = make("button", undefined, make("li", undefined, list));
      chip.type = "button";
      make("span", sign, chip, deviation[k] ? "taste" : "lean").setAttribute("aria-hidden", "true");
      chip.append(" ");
      make("bdi", row.cells[1].textContent, chip);
      chip.setAttribute("aria-label", `${row.cells[1].textContent}: ${words}; open details`);
      chip.addEventListener("click", () => visit(k));
    });
    const rest = data.active[at] - Math.min(named, CHIPS);
    if (rest > 0) make("li", `and ${rest.toLocaleString("en")} more`, list);
    byId("active-count").textContent = data.active[at]
      ? `On the path: ${data.deviating[at].toLocaleString("en")} with a taste of their own (◆), ${data.leaning[at].toLocaleString("en")} leaning to a side (◀ ▶)${data.seeing ? `, ${data.seeing[at].toLocaleString("en")} seeing the scores more or less sharply (◐)` : ""}.`
      : "Nobody: one ranking for all.";
  };

  const moveCharts = (at) => {
    for (const root of charts()) {
      for (const model of root.references()) {
        if (model.name === "now") model.location = data.times[at];
        if (model.name === "dot") model.data_source.data = { x: [data.times[at]], y: [data.error[at]] };
      }
    }
  };

  const move = () => {
    const at = Number(slider.value);
    const words = at === data.chosen ? `${back.dataset.why} (t = ${data.words[at]})` : `t = ${data.words[at]}`;
    byId("now").textContent = words;
    slider.setAttribute("aria-valuetext", `${words}; ${data.active[at]} on the path`);
    back.hidden = at === data.chosen;
    moveLeaderboard(at);
    moveAnnotators(at);
    moveCharts(at);
  };
  slider.addEventListener("input", move);
  const toChosen = () => { slider.value = data.chosen; move(); };
  back.addEventListener("click", () => { toChosen(); slider.focus(); });
  addEventListener("beforeprint", toChosen); // paper has no slider: it shows the chosen point

  // ------------------------------------------------------------ Bokeh's charts in the page's colours
  const charts = () => Bokeh.documents.flatMap((doc) => doc.roots());
  const paint = () => {
    const style = getComputedStyle(document.documentElement);
    const [muted, line] = ["--muted", "--line"].map((name) => style.getPropertyValue(name).trim());
    const font = getComputedStyle(document.body).fontFamily;
    for (const root of charts()) {
      for (const model of root.references()) {
        if (/Axis$/.test(model.type)) {
          model.setv({
            axis_label_text_color: muted, major_label_text_color: muted, axis_line_color: line,
            major_tick_line_color: line, minor_tick_line_color: null, axis_label_text_font: font,
            major_label_text_font: font, axis_label_text_font_style: "normal", axis_label_text_font_size: "13px",
            major_label_text_font_size: "12px",
          });
        } else if (model.type === "Grid") model.grid_line_color = line;
        else if (model.type === "LabelSet") model.setv({ text_color: { value: muted }, text_font: { value: font } });
      }
    }
  };
  const embeddings = Object.entries(chartItems).map(([name, item]) => Bokeh.embed.embed_item(item, `chart-${name}`));
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", paint);
  }
  move();
  Promise.all(embeddings).then(() => { paint(); moveCharts(Number(slider.value)); document.documentElement.dataset.ready = "yes"; });
})();
