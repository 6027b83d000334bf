import type { Database } from '../platform/database.ts'
import type { Listener } from '../platform/listener.ts'
import type { Log } from '../platform/log.ts'
import { type Snapshot, takeSnapshot } from './snapshot.ts'

/** The catalogue in memory. Every change of the one in the database is announced, and taken up within moments. */
export interface Catalogue {
  readonly current: Snapshot
  /** Resolves when `current` is at least what was committed when it was called. */
  refresh(): Promise<void>
  close(): void
}

export interface CatalogueOptions {
  db: Database
  listener: Listener
  log: Log
}

/** Before another attempt where the database did not answer. */
const RETRY = 1000

export async function openCatalogue({ db, listener, log }: CatalogueOptions): Promise<Catalogue> {
  let current = await takeSnapshot(db)
  let running: Promise<void> | undefined
  let waiting: Promise<void> | undefined
  let retry: NodeJS.Timeout | undefined
  let closed = false
  await listener.on('catalogue_changed', refreshQuietly)

  return {
    get current() {
      return current
    },
    refresh,
    close() {
      closed = true
      clearTimeout(retry)
    },
  }

  /** Who asks while a snapshot is being taken waits for one that begins after the question. */
  function refresh(): Promise<void> {
    waiting ??= (running ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        waiting = undefined
        running = takeUp().finally(() => {
          running = undefined
        })
        return running
      })
    return waiting
  }

  async function takeUp(): Promise<void> {
    if (closed) return
    const { version } = await db.queries.selectFrom('catalogue_version').select('version').executeTakeFirstOrThrow()
    if (version === current.version) return
    const began = performance.now()
    current = await takeSnapshot(db)
    const milliseconds = Math.round(performance.now() - began)
    log.info({ version: current.version, skills: current.skills.length, milliseconds }, 'the catalogue was taken up')
  }

  function refreshQuietly(): void {
    clearTimeout(retry)
    refresh().catch((error) => {
      if (closed) return
      log.warn({ err: error }, 'the catalogue could not be refreshed')
      retry = setTimeout(refreshQuietly, RETRY)
      retry.unref()
    })
  }
}
