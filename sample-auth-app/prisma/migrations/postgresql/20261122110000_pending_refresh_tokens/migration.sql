-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "current_hash" TEXT,
ADD COLUMN     "pending_hash" TEXT;

-- Each session has had one token that was not used.
UPDATE "sessions" SET "current_hash" = (SELECT "hash" FROM "refresh_tokens" WHERE "session_id" = "sessions"."id" AND "used_at" IS NULL);
DELETE FROM "sessions" WHERE "current_hash" IS NULL;

-- AlterTable
ALTER TABLE "sessions" ALTER COLUMN "current_hash" SET NOT NULL;
