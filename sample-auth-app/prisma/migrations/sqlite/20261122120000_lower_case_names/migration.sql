-- Names that differ in case alone are one name from now on. Of several rows, the one that is written in lower case keeps
-- the name, else the oldest. The others, and names that the rule no longer allows, become user-ID-RANDOM: nobody can have
-- taken such a name beforehand.
UPDATE "users" SET "username" = 'user-' || "id" || '-' || lower(hex(randomblob(4)))
WHERE lower("users"."username") NOT GLOB '[a-z0-9]*'
   OR lower("users"."username") = 'constructor'
   OR EXISTS (
      SELECT 1 FROM "users" AS "other"
      WHERE lower("other"."username") = lower("users"."username") AND "other"."id" <> "users"."id"
        AND ("other"."username" = lower("other"."username") OR ("users"."username" <> lower("users"."username") AND "other"."id" < "users"."id"))
   );
UPDATE "users" SET "username" = lower("users"."username");
