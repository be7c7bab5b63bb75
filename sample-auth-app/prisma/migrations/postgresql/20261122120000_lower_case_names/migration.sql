-- Names that differ in case alone are one name from now on. Of several rows, the one that is written in lower case keeps
-- the name, else the oldest. The others, and names that the rule no longer allows, become user-ID-RANDOM: nobody can have
-- taken such a name beforehand.
UPDATE "users" SET "username" = 'user-' || "id" || '-' || substr(md5(random()::text), 1, 8)
WHERE lower("users"."username" COLLATE "C") !~ '^[a-z0-9]'
   OR lower("users"."username" COLLATE "C") = 'constructor'
   OR EXISTS (
      SELECT 1 FROM "users" AS "other"
      WHERE lower("other"."username" COLLATE "C") = lower("users"."username" COLLATE "C") AND "other"."id" <> "users"."id"
        AND ("other"."username" = lower("other"."username" COLLATE "C") OR ("users"."username" <> lower("users"."username" COLLATE "C") AND "other"."id" < "users"."id"))
   );
UPDATE "users" SET "username" = lower("users"."username" COLLATE "C");
