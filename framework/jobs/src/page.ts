/** The HTML of the job page, without scripts. @module */
import { createHash } from "node:crypto";
import type { JobRecord, JobState } from "./control.js";

export const STATES: readonly JobState[] = ["waiting", "delayed", "running", "done", "cancelled", "dead"];

const STYLE = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
body{max-width:72rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid #8884}
nav a{margin-right:1rem}nav [aria-current]{font-weight:700;color:inherit}td:nth-child(4){white-space:nowrap}
pre{overflow:auto;padding:.6rem;background:#8882}form{display:inline-block;margin-right:.5rem}
.dead{color:#d33}.running{color:#27c}.done{color:#282}`;

/** Attack: a payload or a reason is text of others. A browser does not execute, cache or frame the page. */
export const PAGE_HEADERS = {
  "content-security-policy":
    `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; ` +
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title><style>${STYLE}</style></head><body>${body}</body></html>`;
}

/** The list of jobs. Its links are relative, so that a proxy may remove a prefix. @param folder - The last segment of its path. */
export function listPage(folder: string, jobs: readonly JobRecord[], chosen: JobState | null): string {
  const links = [null, ...STATES].map((state) => {
    const current = state === chosen ? ' aria-current="page"' : "";
    return `<a href="${folder}${state === null ? "" : `?state=${state}`}"${current}>${state ?? "all"}</a>`;
  });
  const rows = jobs.map(
    ({ id, name, state, attempt, createdAt, reason = "" }) =>
      `<tr><td><a href="${folder}/${escape(id)}">${escape(name)}</a></td><td class="${state}">${state}</td>
<td>${attempt}</td><td>${escape(createdAt)}</td><td>${escape(reason.slice(0, 200))}</td></tr>`,
  );
  const head = "<tr><th>Job</th><th>State</th><th>Attempt</th><th>Created</th><th>Reason</th></tr>";
  const table = rows.length === 0 ? "<p>No jobs.</p>" : `<table>${head}${rows.join("")}</table>`;
  return page("Jobs", `<h1>Jobs</h1><nav>${links.join("")}</nav>${table}`);
}

/** The explanation for jobs that are in no table. */
export function inlinePage(): string {
  return page("Jobs", "<h1>Jobs</h1><p>The jobs run inline, in this process. Use a database to list them.</p>");
}

/** One job, with the buttons that its state allows. */
export function jobPage(folder: string, job: JobRecord): string {
  const { id, name, state, attempt, createdAt, reason = "", payload } = job;
  const fields = { id, name, state, attempt: String(attempt), created: createdAt, reason };
  const rows = Object.entries(fields).map(([field, value]) => `<tr><th>${field}</th><td>${escape(value)}</td></tr>`);
  const button = (action: string, text: string) =>
    `<form method="post" action="${escape(id)}/${action}"><button>${text}</button></form>`;
  const isOpen = state === "waiting" || state === "delayed" || state === "running";
  const buttons = `${state === "dead" ? button("retry", "Retry") : ""}${isOpen ? button("cancel", "Cancel") : ""}`;
  const json = escape(JSON.stringify(payload, null, 2));
  const back = `<nav><a href="../${folder}">All jobs</a></nav>`;
  return page(
    name,
    `${back}<h1>${escape(name)}</h1><table>${rows.join("")}</table><h2>Payload</h2><pre>${json}</pre>${buttons}`,
  );
}
