export const POSTGRESQL_URL: string;
export function findPostgreSQL(): Promise<string | null>;
