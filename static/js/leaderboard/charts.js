// Interactive charts: a button next to each picture draws the chart in the browser, with tooltips and
// a highlighted row. The library is loaded on first use; it includes an interpreter, so that no code
// is evaluated.

const narrow = window.matchMedia("(max-width: 45rem)");
const HINT = "Hover over a mark to see its values. Click it to highlight its model.";
const HINT_FOR_BARS = "Hover over a bar to see its values.";
const HINT_FOR_ZOOM = " Drag to pan, use Ctrl and the mouse wheel to zoom, double-click to reset.";
const FAILED = "The interactive chart could not be loaded. Reload the page to try again.";

async function specification(section) {
  const url = new URL(section.dataset.chart, location.href);
  if (narrow.matches) url.searchParams.set("size", "narrow");
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.pathname}: ${response.status}`);
  return response.json();
}

/** The names of the rows of a chart. */
function names(spec) {
  const found = new Set();
  const parts = [spec];
  for (const part of parts) {
    parts.push(...(part.layer ?? []));
    for (const value of part.data?.values ?? []) if (value.name) found.add(value.name);
  }
  return [...found];
}

/** A select of the highlighted row: for keyboard users, and to find a name among many. */
function choice(rows, view) {
  const select = document.createElement("select");
  select.add(new Option("All", ""));
  for (const row of rows) select.add(new Option(row, row));
  select.addEventListener("change", () => view.signal("highlight", select.value).runAsync());
  view.addEventListener("click", (_, item) => {
    const name = item?.datum?.name ?? "";
    select.value = name === select.value ? "" : name;
    select.dispatchEvent(new Event("change"));
  });
  const label = document.createElement("label");
  label.className = "chart-choice";
  label.append("Highlight", select);
  return label;
}

async function draw(section, picture) {
  const [{ vegaEmbed }, spec] = await Promise.all([import(section.dataset.library), specification(section)]);
  const live = document.createElement("div");
  live.className = "chart-live";
  const { view, finalize } = await vegaEmbed(live, { ...spec, description: picture.querySelector("img").alt }, {
    mode: "vega-lite",
    renderer: "svg",
    ast: true,
    actions: false,
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  });
  picture.hidden = true;
  picture.after(live);
  const rows = names(spec);
  const select = rows.length > 1 ? choice(rows, view) : null;
  if (select) picture.parentElement.before(select);
  const zooms = spec.layer.some((layer) => layer.params) && !narrow.matches;
  return {
    hint: (select ? HINT : HINT_FOR_BARS) + (zooms ? HINT_FOR_ZOOM : ""),
    remove() {
      finalize();
      live.remove();
      select?.remove();
      picture.hidden = false;
    },
  };
}

function offer(section) {
  const button = section.querySelector("[data-chart-toggle]");
  if (!button?.hidden) return;
  const [word] = button.children;
  const said = section.querySelector("[data-chart-said]");
  const picture = section.querySelector("picture");
  if (!picture) return;
  let live = null;
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (button.ariaDisabled === "true") return;
    if (live) {
      live.remove();
      live = null;
      said.textContent = "";
      word.textContent = "Show interactive chart";
      return;
    }
    // Not `disabled`, which would remove the focus from the button.
    button.ariaDisabled = "true";
    said.textContent = "Loading …";
    try {
      live = await draw(section, picture);
      said.textContent = live.hint;
      word.textContent = "Show static chart";
    } catch (error) {
      console.warn("The interactive chart could not be loaded:", error);
      said.textContent = FAILED;
    }
    button.ariaDisabled = null;
  });
}

function offerAll(root) {
  for (const section of root.querySelectorAll("[data-chart]")) offer(section);
}

const EVERY = 3000;
const AT_MOST = 100;

/** Whether the pictures are drawn after a while. Their own URLs have an error status until then. */
async function areDrawn() {
  for (let times = 0; times < AT_MOST; times += 1) {
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    const page = await fetch(location.href, { method: "HEAD" });
    if (page.headers.get("Chart-State") === "drawn") return true;
  }
  return false;
}

/** Shows the pictures as soon as they are drawn. Without a script, readers reload the page. */
async function showDrawn() {
  const waiting = document.querySelectorAll("[data-chart-waiting]");
  if (!waiting.length || !(await areDrawn())) return;
  for (const text of waiting) {
    const picture = text.nextElementSibling;
    // A page without any chart yet.
    if (picture === null) location.reload();
    else text.replaceWith(picture.content);
  }
  offerAll(document);
}

document.addEventListener("htmx:load", (event) => offerAll(event.target));
offerAll(document);
showDrawn();
