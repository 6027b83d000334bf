import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { encodingsOf } from './find-texts.ts'

/**
 * Writes all changes to the data files, and returns a line for each data file of the database and each file of the write-ahead log that
 * contains one of the texts in any encoding. Returns undefined if the files cannot be read, as those of an external server.
 */
export async function scanDatabaseFiles(ownerUrl: string, texts: readonly string[]): Promise<string[] | undefined> {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  let folders: string[]
  try {
    const { rows } = await client.query<{ folder: string; oid: string }>(
      `select current_setting('data_directory') as folder, oid from pg_database where datname = current_database()`,
    )
    await client.query('checkpoint')
    folders = [join(rows[0]!.folder, 'base', rows[0]!.oid), join(rows[0]!.folder, 'pg_wal')]
  } catch {
    return undefined // only a superuser may do this
  } finally {
    await client.end()
  }
  const patterns = texts.flatMap((text) => encodingsOf(text).map((bytes) => ({ text, bytes })))
  const found = new Set<string>()
  for (const folder of folders)
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (!entry.isFile()) continue
      const content = await readFile(join(folder, entry.name)).catch(() => Buffer.alloc(0)) // removed in the meantime
      for (const { text, bytes } of patterns)
        if (content.includes(bytes)) found.add(`${join(folder, entry.name)}: ${text}`)
    }
  return [...found]
}
