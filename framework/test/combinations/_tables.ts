/** The tables of the tool library, for a program that serves it. @module */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { IS_SLOW } from "../support/on-demand.js";
import { conversations } from "./_conversations.js";
import { backroomRows } from "./_backroom-calls.js";
import { type Need, rows as otherRows } from "./_calls.js";
import { type Served, servedAt } from "./_drivers.js";
import { seenOf, wantedOf } from "./_observe.js";
import type { LibraryProgram } from "./_programs.js";
import { stories } from "./_stories.js";

const rows = [...otherRows, ...backroomRows];

type Started = LibraryProgram & { readonly url: string };

/** The parts of a way to serve that rows may do without. */
export interface Lacks {
  /** Next to the process of this test. */
  readonly needs?: readonly Need[];
  readonly webSockets?: true;
  /** Only in slow runs. */
  readonly isSlow?: true;
  /** Titles of rows that cannot be met, each with the reason. */
  readonly unmet?: Readonly<Record<string, string>>;
}

/** Defines the rows of all tables for a program. */
export function describeTables(title: string, start: () => Promise<Started>, lacks: Lacks = {}): void {
  const { needs: missing = [], webSockets, isSlow, unmet = {} } = lacks;
  const describeHere = isSlow && !IS_SLOW ? describe.skip : describe;
  const isMet = ({ title: row, needs = [] }: { readonly title: string; readonly needs?: readonly Need[] }) =>
    !(row in unmet) && !needs.some((need) => need === "process" || missing.includes(need));
  const hasMemory = !missing.includes("memory");

  describeHere(`the library ${title}`, () => {
    let program: Started;
    let served: Served;
    beforeAll(async () => {
      program = await start();
      served = servedAt(program.url, async () => {});
    });
    beforeEach(async () => {
      if (hasMemory) await served.reset();
    });
    afterAll(async () => program?.[Symbol.asyncDispose]());

    it.each(rows.filter(isMet))("$title", async ({ method, target, sent, expected }) => {
      expect(seenOf(await served.send(method, target, sent), expected)).toEqual(wantedOf(expected));
    });

    if (hasMemory) {
      it.each(stories.filter(isMet))("$title", async ({ tell, expected }) => {
        expect(await tell(served)).toEqual(expected);
      });
    }

    if (hasMemory && !webSockets) {
      it.each(conversations.filter(isMet))("$title", async ({ path, handshake, talk, expected }) => {
        const peer = await served.connect!(path, handshake);
        try {
          expect(await talk(peer, served)).toEqual(expected);
        } finally {
          await peer.close();
        }
      });
    }
  });
}
