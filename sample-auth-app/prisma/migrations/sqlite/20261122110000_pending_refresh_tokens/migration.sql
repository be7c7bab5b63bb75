-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_sessions" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "user_id" INTEGER NOT NULL,
    "expires_at" DATETIME NOT NULL,
    "current_hash" TEXT NOT NULL,
    "pending_hash" TEXT,
    CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
-- Each session has had one token that was not used.
DELETE FROM "refresh_tokens" WHERE "session_id" NOT IN (SELECT "session_id" FROM "refresh_tokens" WHERE "used_at" IS NULL);
INSERT INTO "new_sessions" ("id", "user_id", "expires_at", "current_hash")
SELECT "sessions"."id", "user_id", "sessions"."expires_at", "hash"
FROM "sessions" JOIN "refresh_tokens" ON "session_id" = "sessions"."id" AND "used_at" IS NULL;
DROP TABLE "sessions";
ALTER TABLE "new_sessions" RENAME TO "sessions";
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;
