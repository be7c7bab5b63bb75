/** The calls of the library's routes that need Node: files, passwords, metrics. @module */
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Expected, row, type Row } from "./_calls.js";

const page = readFileSync(path.join(import.meta.dirname, "app/assets/index.html"), "utf8");
const style = readFileSync(path.join(import.meta.dirname, "app/assets/style.css"), "utf8");
const CLERK = ["authorization", `Basic ${Buffer.from("ada:password-of-ada").toString("base64")}`] as const;

/** Headers of each file. */
const FILE = { etag: /^"[\w-]+"$/, "last-modified": /GMT$/, "accept-ranges": "bytes" };
const PAGES = { ...FILE, "x-static": "yes" };

const file = (body: string, type: string, headers: Expected["headers"] = {}): Expected => ({
  status: 200,
  body,
  headers: { "content-type": `${type}; charset=utf-8`, "content-length": String(Buffer.byteLength(body)), ...headers },
});

export const nodeRows: readonly Row[] = [
  row(
    "sends the page of a folder",
    "GET /pages/",
    {},
    file(page, "text/html", { ...PAGES, "cache-control": "no-cache" }),
  ),
  row(
    "sends a folder without a slash to its address with it",
    "GET /pages",
    {},
    { status: 307, body: "", headers: { location: "/pages/", "content-length": "0" } },
  ),
  row(
    "sends the page for an address that a script in it knows",
    "GET /pages/tools/7",
    { headers: [["accept", "text/html"]] },
    file(page, "text/html", { ...PAGES, "cache-control": "no-cache" }),
  ),
  row(
    "answers a file that is missing by the App's handler of errors",
    "GET /pages/none.js",
    {},
    {
      status: 404,
      body: { detail: "Not Found" },
      headers: {
        vary: "Accept, Accept-Encoding, Origin",
        "content-type": "application/json",
        "content-length": "22",
        "x-error": "404 GET",
      },
    },
  ),
  row(
    "sends a file as it was compressed beforehand, and leaves it so",
    "GET /pages/style.css",
    { headers: [["accept-encoding", "gzip"]] },
    {
      status: 200,
      body: style,
      headers: {
        ...PAGES,
        "content-type": "text/css; charset=utf-8",
        "content-encoding": "gzip",
        "content-length": /^\d+$/,
      },
    },
  ),
  row(
    "sends a part of a file behind a login",
    "GET /v1/manuals/style.css",
    { headers: [CLERK, ["range", "bytes=0-3"]] },
    {
      status: 206,
      body: "body",
      headers: {
        ...FILE,
        vary: "Origin",
        "content-type": "text/css; charset=utf-8",
        "content-length": "4",
        "content-range": `bytes 0-3/${style.length}`,
        "content-disposition": 'inline; filename="ada-style.css"',
      },
    },
  ),
  row(
    "refuses a part of a file that is not there",
    "GET /v1/manuals/style.css",
    { headers: [CLERK, ["range", "bytes=900-"]] },
    {
      status: 416,
      body: { detail: "Range Not Satisfiable" },
      headers: {
        vary: "Origin",
        "content-type": "application/json",
        "content-length": "34",
        "content-range": `bytes */${style.length}`,
        "x-error": "416 GET",
      },
    },
  ),
  row(
    "asks for a login before it looks for a file",
    "GET /v1/manuals/none",
    {},
    {
      status: 401,
      body: { detail: "Not authenticated" },
      headers: {
        "content-type": "application/json",
        "content-length": "30",
        "x-error": "401 GET",
        "www-authenticate": 'Basic realm="Desk", charset="UTF-8"',
      },
    },
  ),
  row(
    "leads no address out of the folder",
    "GET /v1/manuals/..%2Fapp.ts",
    { headers: [CLERK] },
    {
      status: 404,
      body: { detail: "Not Found" },
      headers: { "content-type": "application/json", "content-length": "22", "x-error": "404 GET" },
    },
  ),
  row(
    "answers HEAD for a file with its length",
    "HEAD /pages/style.css",
    {},
    {
      status: 200,
      body: "",
      headers: { ...PAGES, "content-type": "text/css; charset=utf-8", "content-length": String(style.length) },
    },
  ),
];
