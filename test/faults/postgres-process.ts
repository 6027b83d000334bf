// A process for the tests to kill: starts the embedded PostgreSQL and, when asked, writes rows. Told what to do in its first
// argument, as JSON; says what happens line by line, as JSON; ends in good order on "stop", and at once when its standard input ends.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'
import type { ProcessOrder } from './postgres-driver.ts'

const order = JSON.parse(process.argv[2]!) as ProcessOrder
const began = performance.now()
let postgres: EmbeddedPostgres | undefined
let stopAsked = false
let stopping = false

createInterface({ input: process.stdin })
  .on('line', (line) => {
    if (line !== 'stop') return
    stopAsked = true
    if (postgres) void stop(postgres)
  })
  .on('close', () => stopAsked || process.exit(9))
// What a server that drains does with Ctrl-C.
process.on('SIGINT', () => say({ event: 'interrupted' }))

try {
  postgres = await startEmbeddedPostgres({
    dataDir: order.dataDir,
    role: order.role,
    machine: order.machine,
    log: (line) => say({ event: 'log', ...line }),
    progress: (text) => say({ event: 'progress', text }),
    onLost: ({ message }) => say({ event: 'lost', message }),
  })
  say({ event: 'up', ms: Math.round(performance.now() - began), connection: postgres.connection })
  if (stopAsked) void stop(postgres)
  const { connection } = postgres
  const writers = Array.from({ length: order.writers ?? 0 }, (_, index) => writeRows(connection, index))
  await Promise.all(writers)
} catch (error) {
  const { code, message } = error as Error & { code?: string }
  say({ event: 'failed', code, message })
  process.exit(1)
}

/** Inserts without end, over a new connection whenever the old one broke, and tells of a row only once it is committed. */
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
        say({ event: 'written', id })
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
  say({ event: 'stopped' })
  process.exit(0)
}

// At once and not through a stream: what was said must be out before the next kill.
function say(event: Record<string, unknown>): void {
  writeSync(1, `${JSON.stringify(event)}\n`)
}
