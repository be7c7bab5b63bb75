/**
 * Creates the tables in a schema of their own, or drops them.
 *
 * `node seed.js URL [drop]`
 *
 * @module
 */
import argon2 from "argon2";
import { Client } from "pg";

/** The messages of TechEmpower's test: one to be escaped, one beyond ASCII. */
const MESSAGES = [
  "fortune: No such file or directory",
  "A computer scientist is someone who fixes things that aren't broken.",
  "After enough decimal places, nobody gives a damn.",
  "A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1",
  "A computer program does what you tell it to do, not what you want it to do.",
  "Emacs is a nice operating system, but I prefer UNIX.",
  "Any program that runs right is obsolete.",
  "A list is only as strong as its weakest link. — Donald Knuth",
  "Feature: A bug with seniority.",
  "Computers make very fast, very accurate mistakes.",
  '<script>alert("This should not be displayed in a browser alert box.");</script>',
  "フレームワークのベンチマーク",
];

/** The cost of the sample application's hashes: that of `@tsgi/passwords`. */
const HASH = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const [connectionString, command] = process.argv.slice(2);
const client = new Client({ connectionString });
await client.connect();
await client.query("DROP SCHEMA IF EXISTS tsgi_bench CASCADE");
if (command !== "drop") {
  await client.query(`CREATE SCHEMA tsgi_bench;
    CREATE TABLE tsgi_bench.world (id int PRIMARY KEY, randomnumber int NOT NULL);
    CREATE TABLE tsgi_bench.fortune (id int PRIMARY KEY, message text NOT NULL);
    CREATE TABLE tsgi_bench.account (id int PRIMARY KEY, username text NOT NULL UNIQUE, password_hash text NOT NULL);
    CREATE TABLE tsgi_bench.item (id int PRIMARY KEY, name text NOT NULL, owner_id int NOT NULL);
    CREATE INDEX ON tsgi_bench.item (owner_id, id);
    CREATE TABLE tsgi_bench.session (token_hash text PRIMARY KEY, account_id int NOT NULL, expires_at timestamp NOT NULL);
    INSERT INTO tsgi_bench.item SELECT id, 'item ' || id, 1 + id % 100 FROM generate_series(1, 10000) AS id;
    INSERT INTO tsgi_bench.world SELECT id, 1 + floor(random() * 10000) FROM generate_series(1, 10000) AS id`);
  await client.query(
    "INSERT INTO tsgi_bench.fortune SELECT id, message FROM unnest($1::text[]) WITH ORDINALITY AS f (message, id)",
    [MESSAGES],
  );
  await client.query("INSERT INTO tsgi_bench.account SELECT id, 'user' || id, $1 FROM generate_series(1, 100) AS id", [
    await argon2.hash("a password of 100 users", HASH),
  ]);
  for (const table of ["world", "account", "item"]) await client.query(`ANALYZE tsgi_bench.${table}`);
}
await client.end();
