// The inspector of `tsgi dev`. Everything that an application names is written as text, never as markup.

/** Creates an element with attributes and children; a child that is a text stays one. */
function create(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const byId = (id) => document.getElementById(id);
const KEPT = 100;

/** Requests by their id, as the server told them last, and the element of each. */
const requests = new Map();
const rows = new Map();

const ms = (value) => (value === null ? "…" : `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`);

function statusClass({ status, error }) {
  if (error !== null || status >= 500) return "failed";
  if (status >= 400) return "refused";
  return status === null ? "running" : "good";
}

const FILTERS = {
  all: () => true,
  refused: ({ faults }) => faults.length > 0,
  failed: (request) => statusClass(request) === "failed",
};

/** The request's steps as bars on one scale. Positions are attributes of SVG: the page's policy allows no inline style. */
function waterfall({ steps, durationMs }) {
  const last = Math.max(durationMs ?? 0, ...steps.map(({ endMs, startMs }) => endMs ?? startMs), 0.001);
  const lines = steps.map(({ kind, name, startMs, endMs, error }) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const width = Math.max((((endMs ?? last) - startMs) / last) * 100, 0.5);
    bar.setAttribute("x", `${Math.min((startMs / last) * 100, 99.5)}%`);
    bar.setAttribute("width", `${width}%`);
    bar.setAttribute("height", "100%");
    bar.setAttribute("rx", "2");
    bar.setAttribute("class", `bar ${kind}${error === null ? "" : " error"}`);
    svg.setAttribute("aria-hidden", "true");
    svg.append(bar);
    const label = create("span", { class: "step", title: error ?? "" }, create("b", {}, kind), ` ${name}`);
    return create("li", {}, label, svg, create("span", { class: "ms" }, ms(endMs === null ? null : endMs - startMs)));
  });
  return create("ol", { class: "waterfall" }, ...lines);
}

function faultList(faults) {
  const items = faults.map(({ loc, msg, type }) =>
    create("li", {}, create("code", {}, loc), ` ${msg} `, create("span", { class: "type" }, type)),
  );
  return create("ul", { class: "faults" }, ...items);
}

/** The places in the source that threw the error, each with the lines around it. */
function frameList(frames) {
  return frames.flatMap(({ name, file, line, source }) => [
    create("p", { class: "frame" }, create("code", {}, `${file}:${line}`), ` ${name}`),
    ...(source.length === 0 ? [] : [create("pre", {}, source.join("\n"))]),
  ]);
}

function details(request) {
  const { route, handler, faults, error, frames, steps } = request;
  const about = route === null ? "No route of the application." : `Route ${route}, handler ${handler}.`;
  return [
    create("p", {}, about),
    ...(error === null ? [] : [create("p", { class: "error" }, error), ...frameList(frames)]),
    ...(faults.length === 0 ? [] : [faultList(faults)]),
    ...(steps.length === 0 ? [] : [waterfall(request)]),
  ];
}

function renderRequest(request) {
  const { id, method, path, status, durationMs, startedAt } = request;
  const row = rows.get(id) ?? create("details", { "data-id": id });
  const time = new Date(startedAt).toLocaleTimeString();
  const summary = create(
    "summary",
    { class: statusClass(request) },
    create("time", { datetime: startedAt }, time),
    create("b", {}, method),
    create("code", {}, path),
    create("span", { class: "status" }, String(status ?? "…")),
    create("span", { class: "ms" }, ms(durationMs)),
  );
  row.replaceChildren(summary, ...details(request));
  if (!rows.has(id)) {
    rows.set(id, row);
    byId("requests").prepend(row);
  }
  row.hidden = !FILTERS[filterName()](request);
}

const filterName = () => new FormData(byId("filter")).get("show");

function dropOldest() {
  for (const id of [...requests.keys()].slice(0, Math.max(0, requests.size - KEPT))) {
    requests.delete(id);
    rows.get(id)?.remove();
    rows.delete(id);
  }
}

function renderPool(pool) {
  const entries = pool === null ? [["state", "not in use"]] : Object.entries(pool);
  byId("pool").replaceChildren(
    ...entries.flatMap(([name, value]) => [create("dt", {}, name), create("dd", {}, String(value))]),
  );
}

function tree(dependencies) {
  if (dependencies.length === 0) return [];
  const items = dependencies.map(({ name, dependencies: inner }) => create("li", {}, name, ...tree(inner)));
  return [create("ul", {}, ...items)];
}

async function loadRoutes() {
  const routes = await (await fetch("/__tsgi/routes")).json();
  const shown = routes.map(({ method, path, name, dependencies }) => {
    const title = [create("b", {}, method), " ", create("code", {}, path), " ", create("span", {}, name)];
    return dependencies.length === 0
      ? create("p", {}, ...title)
      : create("details", {}, create("summary", {}, ...title), ...tree(dependencies));
  });
  byId("routes").replaceChildren(...(shown.length > 0 ? shown : [create("p", { class: "empty" }, "None.")]));
}

function show(state) {
  byId("connection").textContent = state;
  byId("connection").className = state;
}

byId("filter").addEventListener("change", () => {
  for (const request of requests.values()) renderRequest(request);
});

const events = new EventSource("/__tsgi/events");
events.addEventListener("open", () => {
  // A server that has started again counts from 1.
  requests.clear();
  rows.clear();
  byId("requests").replaceChildren();
  show("live");
  void loadRoutes();
});
events.addEventListener("error", () => show("reconnecting"));
events.addEventListener("message", ({ data }) => {
  const { requests: changed, pool } = JSON.parse(data);
  for (const request of changed) {
    requests.set(request.id, request);
    renderRequest(request);
  }
  dropOldest();
  renderPool(pool);
});
