/** The database routes on NestJS with its adapter for Fastify; decorators are called, as JavaScript has none. @module */
import { Controller, DefaultValuePipe, Get, Header, Inject, Module, ParseIntPipe, Query } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { announce } from "../http/announce.js";
import { findFortunes, findWorld, findWorlds, openPool, renderFortunes, updateWorlds } from "./queries.js";

const POOL = Symbol("pool");

class DatabaseController {
  constructor(pool) {
    this.pool = pool;
  }
  db() {
    return findWorld(this.pool);
  }
  queries(count) {
    return findWorlds(this.pool, count);
  }
  updates(count) {
    return updateWorlds(this.pool, count);
  }
  async fortunes() {
    return renderFortunes(await findFortunes(this.pool));
  }
}

const { prototype } = DatabaseController;
const decorate = (name, ...decorators) =>
  Reflect.decorate(decorators, prototype, name, Object.getOwnPropertyDescriptor(prototype, name));
Inject(POOL)(DatabaseController, undefined, 0);
for (const name of ["db", "queries", "updates"]) decorate(name, Get(name));
decorate("fortunes", Get("fortunes"), Header("content-type", "text/html; charset=utf-8"));
for (const name of ["queries", "updates"]) {
  Query("queries", new DefaultValuePipe(1), ParseIntPipe)(prototype, name, 0);
}
Controller()(DatabaseController);

class DatabaseModule {}
Module({ controllers: [DatabaseController], providers: [{ provide: POOL, useFactory: openPool }] })(DatabaseModule);

const app = await NestFactory.create(DatabaseModule, new FastifyAdapter(), { logger: false });
await app.listen(0, "127.0.0.1");
announce(app.getHttpServer().address().port);
