/** The first page of the site: the README's example, the chart of the benchmarks, and three reasons. */

const REASONS = [
  {
    title: "Declared once",
    text: "A handler's parameters and its result are one declaration. Types, checks, conversion, dependency injection and the OpenAPI document follow from it.",
    link: "parameters.md",
    more: "Parameters",
  },
  {
    title: "Strict at both ends",
    text: "The server rejects invalid HTTP, limits every size and time, and shuts down gracefully on SIGTERM. Responses contain only the properties in their schema.",
    link: "server.md",
    more: "The server",
  },
  {
    title: "One function, and fast",
    text: "An application is one ASGI function: mount it, wrap it, or call it in a test without a port. CPU-bound handlers run in a worker pool and do not block the event loop.",
    link: "concurrency.md",
    more: "Worker pool",
  },
];

/** Rows of the table without a framework, for comparison. */
const NO_FRAMEWORK = /hand-written|^bare|floor|uWebSockets/;

/** The blocks of a README: the application, and the terminal. */
function exampleOf(readme) {
  const [program, terminal] = ["ts", "console"].map((language) => {
    const block = new RegExp(`^\`\`\`${language}\\b.*?^\`\`\`$`, "ms").exec(readme)?.[0];
    if (block === undefined) throw new Error(`framework/core/README.md has no ${language} block for the first page.`);
    return block;
  });
  return `${program}\n\n${terminal}`;
}

/** The speed of each framework with a route, tsgi is 1, from the table of the benchmarks, the fastest first. */
function figuresOf(benchmarks, route) {
  const [head = "", , ...rows] = /<!-- figures: http -->[^]*?^(\|[^]*?)\n\n/m.exec(benchmarks)?.[1]?.split("\n") ?? [];
  const column = head.split("|").findIndex((cell) => cell.trim() === `\`${route}\``);
  if (column < 0) throw new Error(`benchmarks.md has no figures of ${route} for the first page.`);
  const others = rows
    .map((row) => row.split("|").map((cell) => cell.trim()))
    .map((cells) => ({
      name: (cells[1] ?? "").replace("tsgi serve / ", ""),
      speed: 1 / Number.parseFloat(cells[column]),
    }))
    .filter(({ name, speed }) => !NO_FRAMEWORK.test(name) && speed > 0);
  return [{ name: "tsgi", speed: 1 }, ...others].toSorted((left, right) => right.speed - left.speed);
}

function chartOf(figures) {
  const most = Math.max(...figures.map(({ speed }) => speed));
  const rows = figures.map(({ name, speed }) => {
    const isOurs = name === "tsgi" ? ' class="ours"' : "";
    const width = Math.round((speed / most) * 100);
    return `<tr${isOurs}><th scope="row">${name}</th><td><span style="width:${width}%"></span></td><td>${speed.toFixed(2)}</td></tr>`;
  });
  return `<table class="chart"><caption>Requests per second of CPU time, tsgi is 1</caption><tbody>${rows.join("")}</tbody></table>`;
}

/** The page as Markdown. */
export function makeHome({ readme, benchmarks, version }) {
  const route = "POST /users";
  const reasons = REASONS.map(
    ({ title, text, link, more }) => `<div class="reason">\n\n## ${title}\n\n${text}\n\n[${more}](${link})\n\n</div>`,
  );
  return `---
layout: home
title: tsgi
titleTemplate: ASGI for TypeScript
hero:
  name: tsgi
  text: ASGI for TypeScript
  tagline: Typed parameters, dependency injection and OpenAPI from one declaration. Version ${version}.
  actions:
    - { theme: brand, text: Tutorial, link: /tutorial }
    - { theme: alt, text: Cookbook, link: /cookbook/ }
    - { theme: alt, text: Reference, link: /reference/ }
---

<div class="example">

${exampleOf(readme)}

</div>

<div class="reasons">

${reasons.join("\n\n")}

</div>

<div class="speed">

## How fast it is

Each framework validates a JSON body with the library that it recommends: \`${route}\` over HTTP.

${chartOf(figuresOf(benchmarks, route))}

See [all benchmarks](benchmarks.md), with the test machine, the method, and the cases in which tsgi is slower.

</div>
`;
}
