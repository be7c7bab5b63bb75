/**
 * The database routes on NestJS with its adapter for Fastify; decorators are called, because JavaScript does not have
 * them. @module
 */
import { Controller, DefaultValuePipe, Get, Header, Inject, Module, ParseIntPipe, Query } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { announce } from "../http/announce.js";
import { findFortunes, findWorld, findWorlds, openDatabase, renderFortunes, updateWorlds } from "./queries.js";

const DATABASE = Symbol("database");

class DatabaseController {
  constructor(db) {
    this.database = db;
  }
  db() {
    return findWorld(this.database);
  }
  queries(count) {
    return findWorlds(this.database, count);
  }
  updates(count) {
    return updateWorlds(this.database, count);
  }
  async fortunes() {
    return renderFortunes(await findFortunes(this.database));
  }
}

const { prototype } = DatabaseController;
const decorate = (name, ...decorators) =>
  Reflect.decorate(decorators, prototype, name, Object.getOwnPropertyDescriptor(prototype, name));
Inject(DATABASE)(DatabaseController, undefined, 0);
for (const name of ["db", "queries", "updates"]) decorate(name, Get(name));
decorate("fortunes", Get("fortunes"), Header("content-type", "text/html; charset=utf-8"));
for (const name of ["queries", "updates"]) Query("queries", new DefaultValuePipe(1), ParseIntPipe)(prototype, name, 0);
Controller()(DatabaseController);

class DatabaseModule {}
Module({
  controllers: [DatabaseController],
  providers: [{ provide: DATABASE, useFactory: openDatabase }],
})(DatabaseModule);

const app = await NestFactory.create(DatabaseModule, new FastifyAdapter(), { logger: false });
await app.listen(0, "127.0.0.1");
announce(app.getHttpServer().address().port);
