/**
 * Creates the tables in a separate schema, or drops them.
 *
 * `node seed.js URL [drop]`
 *
 * @module
 */
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

const [connectionString, command] = process.argv.slice(2);
const client = new Client({ connectionString });
await client.connect();
await client.query("DROP SCHEMA IF EXISTS tsgi_bench CASCADE");
if (command !== "drop") {
  await client.query(`CREATE SCHEMA tsgi_bench;
    CREATE TABLE tsgi_bench.world (id int PRIMARY KEY, randomnumber int NOT NULL);
    CREATE TABLE tsgi_bench.fortune (id int PRIMARY KEY, message text NOT NULL);
    INSERT INTO tsgi_bench.world SELECT id, 1 + floor(random() * 10000) FROM generate_series(1, 10000) AS id`);
  await client.query(
    "INSERT INTO tsgi_bench.fortune SELECT id, message FROM unnest($1::text[]) WITH ORDINALITY AS f (message, id)",
    [MESSAGES],
  );
  await client.query("ANALYZE tsgi_bench.world");
}
await client.end();
