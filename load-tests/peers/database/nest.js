/** The database routes on NestJS with its adapter for Fastify; decorators are called, as JavaScript has none. @module */
import {
  BadRequestException,
  Body,
  Controller,
  DefaultValuePipe,
  Get,
  Header,
  HttpCode,
  Inject,
  Module,
  ParseIntPipe,
  Post,
  Query,
  Req,
  Res,
  UnauthorizedException,
  UseGuards,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { z } from "zod";
import { announce } from "../http/announce.js";
import { findAccount, formatCookie, listItems, logIn, tokenOf } from "./accounts.js";
import { findFortunes, findWorld, findWorlds, openDatabase, renderFortunes, updateWorlds } from "./queries.js";

const DATABASE = Symbol("database");
const Credentials = z.object({ username: z.string(), password: z.string() });

class CredentialsPipe {
  transform(value) {
    const { success, data } = Credentials.safeParse(value);
    if (!success) throw new BadRequestException();
    return data;
  }
}

class AuthGuard {
  constructor(db) {
    this.db = db;
  }
  async canActivate(context) {
    const request = context.switchToHttp().getRequest();
    request.account = await findAccount(this.db, tokenOf(request.headers.authorization));
    if (request.account === null) throw new UnauthorizedException();
    return true;
  }
}

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
  async logIn({ username, password }, reply) {
    const session = await logIn(this.database, username, password);
    if (session === null) throw new UnauthorizedException();
    reply.header("set-cookie", formatCookie(session.refreshToken));
    return session.answer;
  }
  items({ account }) {
    return listItems(this.database, account);
  }
}

const { prototype } = DatabaseController;
const decorate = (name, ...decorators) =>
  Reflect.decorate(decorators, prototype, name, Object.getOwnPropertyDescriptor(prototype, name));
for (const one of [DatabaseController, AuthGuard]) Inject(DATABASE)(one, undefined, 0);
for (const name of ["db", "queries", "updates"]) decorate(name, Get(name));
decorate("fortunes", Get("fortunes"), Header("content-type", "text/html; charset=utf-8"));
for (const name of ["queries", "updates"]) {
  Query("queries", new DefaultValuePipe(1), ParseIntPipe)(prototype, name, 0);
}
decorate("logIn", Post("auth/token"), HttpCode(200));
Body(CredentialsPipe)(prototype, "logIn", 0);
Res({ passthrough: true })(prototype, "logIn", 1);
decorate("items", Get("items"), UseGuards(AuthGuard));
Req()(prototype, "items", 0);
Controller()(DatabaseController);

class DatabaseModule {}
Module({
  controllers: [DatabaseController],
  providers: [AuthGuard, { provide: DATABASE, useFactory: openDatabase }],
})(DatabaseModule);

const app = await NestFactory.create(DatabaseModule, new FastifyAdapter(), { logger: false });
await app.listen(0, "127.0.0.1");
announce(app.getHttpServer().address().port);
