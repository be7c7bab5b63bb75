import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { checkServer, serverStatements, type StartServer } from "../src/index.js";
import { type BrokenServer, brokenServers } from "./_broken-servers.js";
import { DIVERGENCES } from "./_divergences.js";
import { MEMORY_LACKS, startInMemory } from "./_memory-server.js";
import { startHTTP1 } from "./_servers.js";

/** The statements that a broken server does not keep. */
async function brokenBy({ wrap = (app) => app, around = (start) => start, onSocket }: BrokenServer): Promise<string[]> {
  const start: StartServer = around((app) => (onSocket ? startHTTP1 : startInMemory)(wrap(app)));
  const results = await checkServer(start, onSocket ? {} : MEMORY_LACKS);
  return results
    .filter(({ passed, statement }) => !passed && !(statement.id in DIVERGENCES))
    .map(({ statement }) => statement.id);
}

/** The number of broken servers that are checked at the same time. */
const SIDE_BY_SIDE = 12;

describe("a server that is broken on purpose", () => {
  const found = new Map<BrokenServer, string[]>();

  // Some run concurrently, because a few hang until a check gives up; not all, which would delay whole servers.
  beforeAll(async () => {
    const waiting = brokenServers.values();
    const checkNext = async () => {
      for (const broken of waiting) found.set(broken, await brokenBy(broken));
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, checkNext));
    // A late result on a busy machine is not an error: differences are checked again, separately.
    for (const broken of brokenServers) if (!isAsExpected(broken)) found.set(broken, await brokenBy(broken));
  });

  const isAsExpected = (broken: BrokenServer): boolean =>
    isDeepStrictEqual(found.get(broken)?.toSorted(), broken.breaks.toSorted());

  it.each(brokenServers)("breaks exactly the expected statements: $what, $breaks", (broken) => {
    expect(found.get(broken)?.toSorted()).toEqual(broken.breaks.toSorted());
  });

  it("is there for every statement that the servers keep", () => {
    const broken = new Set(brokenServers.flatMap(({ breaks }) => breaks));
    const kept = serverStatements.map(({ id }) => id).filter((id) => !(id in DIVERGENCES));
    expect(kept.filter((id) => !broken.has(id))).toEqual([]);
  });
});
