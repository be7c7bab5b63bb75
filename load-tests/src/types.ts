/** The price of types: what the type checker needs for an application of many routes, and for a client of each. @module */
import { PEER_SOURCES, PEERS } from "./paths.js";
import type { Progress } from "./progress.js";
import type { Row } from "./report.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";
import { check } from "./types/check.js";
import { findCompilers } from "./types/compilers.js";
import { faultsOfMistakes } from "./types/mistakes.js";
import { ROUTES_OF_TEMPLATE, writeProgram, writeSources } from "./types/sources.js";

/** The contender whose handlers read bodies and queries as what they like. */
export const UNTYPED = "Express, no body types";

/** The folder of each contender's templates. */
const OURS = { tsgi: "tsgi" };
const THEIRS = { Hono: "hono", Elysia: "elysia", Fastify: "fastify", NestJS: "nest", [UNTYPED]: "express" };

/** The programs of a contender, by the files that each begins with. */
const PROGRAMS: Readonly<Record<string, (file: string) => boolean>> = {
  routes: (file) => file === "app.ts",
  "routes and client": (file) => file.startsWith("calls"),
};

/** Checks the programs of each contender with each compiler, in fresh processes. */
export function measureTypes(settings: Settings, progress: Progress): Promise<Result[]> {
  const { rounds, routes } = settings.types;
  const contenders: Readonly<Record<string, string>> = settings.peers ? { ...OURS, ...THEIRS } : OURS;
  const { counting, newest, all } = findCompilers(settings.peers);
  return takeTurns(Object.keys(contenders), rounds, async (contender, round) => {
    const isFirst = round === 0;
    const template = new URL(`types/${contenders[contender] ?? ""}/`, PEER_SOURCES);
    const few = await writeSources(template, new URL("types-checked/few/", PEERS), ROUTES_OF_TEMPLATE);
    const many = await writeSources(template, new URL("types-checked/many/", PEERS), routes);
    // The same input gives the same errors and the same counts: there is nothing to repeat.
    const faults = isFirst ? await faultsOfMistakes(newest.path, few) : [];
    const rows: Row[] = [];
    let countedBefore = 0;
    for (const [name, begins] of Object.entries(PROGRAMS).filter(([, has]) => many.files.some(has))) {
      const program = await writeProgram(many, name, begins);
      for (const compiler of all) {
        progress.step(`types, round ${round + 1} of ${rounds}: ${contender}, ${name}, ${compiler.name}`);
        const { cpuMs, memoryMiB, instantiations, errors } = await check(compiler.path, program);
        const figures: Record<string, number> = { perCPUSecond: (1_000 * routes) / cpuMs, cpuMs, memoryMiB };
        if (isFirst && compiler === counting) {
          const base = await check(compiler.path, await writeProgram(few, name, begins));
          const counted = (instantiations - base.instantiations) / (routes - ROUTES_OF_TEMPLATE);
          figures["instantiations"] = counted - countedBefore;
          countedBefore = counted;
        }
        rows.push({ name: `${routes} ${name}, ${compiler.name}`, figures });
        faults.push(...errors.slice(0, 1));
      }
    }
    return { rows, faults };
  });
}
