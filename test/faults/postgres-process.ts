// A process for tests to kill: starts the embedded PostgreSQL and writes rows if requested. Its first argument has the options as
// JSON. Prints events as JSON lines. Stops gracefully when it reads "stop", and exits immediately when its standard input ends.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'
import type { ProcessOptions } from './postgres-driver.ts'

const options = JSON.parse(process.argv[2]!) as ProcessOptions
let postgres: EmbeddedPostgres | undefined
let stopRequested = false
let stopping = false

createInterface({ input: process.stdin })
  .on('line', (line) => {
    if (line !== 'stop') return
    stopRequested = true
    if (postgres) void stop(postgres)
  })
  .on('close', () => stopRequested || process.exit(9))
// A server that is shutting down ignores Ctrl-C in the same way.
process.on('SIGINT', () => emit({ event: 'interrupted' }))

try {
  postgres = await startEmbeddedPostgres({
    dataDir: options.dataDir,
    role: options.role,
    machine: options.machine,
    log: (line) => emit({ event: 'log', ...line }),
    progress: (text) => emit({ event: 'progress', text }),
    onTakenOver: ({ message }) => emit({ event: 'lost', message }),
  })
  emit({ event: 'up', connection: postgres.connection })
  if (stopRequested) void stop(postgres)
  const { connection } = postgres
  const writers = Array.from({ length: options.writers ?? 0 }, (_, index) => writeRows(connection, index))
  await Promise.all(writers)
} catch (error) {
  const { code, message } = error as Error & { code?: string }
  emit({ event: 'failed', code, message })
  process.exit(1)
}

/** Inserts rows until stopped, reconnecting when the connection is lost, and emits an event for each committed row. */
async function writeRows(connection: EmbeddedPostgres['connection'], index: number): Promise<void> {
  for (let row = 0; !stopping; ) {
    const client = new pg.Client(connection)
    client.on('error', () => {})
    try {
      await client.connect()
      if (index === 0)
        await client.query('create table if not exists written (id text primary key, filler text not null)')
      while (!stopping) {
        const id = `${process.pid}-${index}-${row++}`
        await client.query('insert into written values ($1, $2)', [id, 'x'.repeat(300)])
        emit({ event: 'written', id })
      }
    } catch {
      await pause(20)
    } finally {
      await client.end().catch(() => {})
    }
  }
}

async function stop(postgres: EmbeddedPostgres): Promise<void> {
  stopping = true
  await postgres.stop()
  emit({ event: 'stopped' })
  process.exit(0)
}

// Synchronously, so that events are written before the process is killed.
function emit(event: Record<string, unknown>): void {
  writeSync(1, `${JSON.stringify(event)}\n`)
}
