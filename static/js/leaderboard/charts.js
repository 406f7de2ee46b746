// Charts to interact with: beside each picture a button that shows the same chart drawn here, with
// the figures of what one points at and a row that stands out. The library that draws is fetched
// when the first is asked for; it comes with an interpreter, so that nothing is evaluated.

const narrow = window.matchMedia("(max-width: 45rem)");
const TOLD = "Point at a mark for its figures; click it to highlight what belongs to it.";
const TOLD_OF_BARS = "Point at a bar for its figures.";
const TOLD_OF_ZOOM = " Drag to move, turn the wheel with Ctrl to zoom, double-click to go back.";
const FAILED = "The interactive chart could not be loaded, so the picture stays. Load the page again to try once more.";

async function specification(section) {
  const address = new URL(section.dataset.chart, location.href);
  if (narrow.matches) address.searchParams.set("size", "narrow");
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address.pathname}: ${response.status}`);
  return response.json();
}

/** The rows of a chart by the names they have in it. */
function names(spec) {
  const found = new Set();
  const parts = [spec];
  for (const part of parts) {
    parts.push(...(part.layer ?? []));
    for (const value of part.data?.values ?? []) if (value.name) found.add(value.name);
  }
  return [...found];
}

/** A choice of the row that stands out: for the keyboard, and to find a name among many. */
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
    told: (select ? TOLD : TOLD_OF_BARS) + (zooms ? TOLD_OF_ZOOM : ""),
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
  let live = null;
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (button.ariaDisabled === "true") return;
    if (live) {
      live.remove();
      live = null;
      said.textContent = "";
      word.textContent = "Interactive";
      return;
    }
    // Not disabled, which would take the focus from it.
    button.ariaDisabled = "true";
    said.textContent = "Loading …";
    try {
      live = await draw(section, picture);
      said.textContent = live.told;
      word.textContent = "Picture";
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

document.addEventListener("htmx:load", (event) => offerAll(event.target));
offerAll(document);
