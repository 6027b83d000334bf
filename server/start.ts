import type { Config } from './config.ts'
import { requireFreePort } from './free-port.ts'
import { printProgress } from './progress.ts'
import { startDatabase } from './start-database.ts'

/** Starts the embedded database, if it is used, loads the modules of the server while PostgreSQL starts, and runs the server. */
export async function startServer(config: Config): Promise<void> {
  await requireFreePort({ ...config, variable: 'PORT' })
  const startedDatabase = config.databaseUrl ? undefined : startDatabase(config.dataDir, 'server', printProgress)
  await startedDatabase?.waiting
  const { serve } = await import('./serve.ts')
  await serve(config, startedDatabase)
}
