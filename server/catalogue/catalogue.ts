import type { Database } from '../platform/database/database.ts'
import type { Listener } from '../platform/database/listener.ts'
import { unstorable } from '../platform/http/json.ts'
import type { Log } from '../platform/log.ts'
import { readSkills, type Skill, type Snapshot, takeSnapshot } from './snapshot.ts'

/** The catalogue in memory. Every change of the one in the database is announced, and taken up within moments. */
export interface Catalogue {
  readonly current: Snapshot
  /**
   * Makes sure that `current` knows those of the given skills that the database has, also one that was added a moment ago: taking up
   * a whole catalogue may take seconds.
   */
  learn(skills: { numbers?: (number | undefined)[]; names?: string[] }): Promise<void>
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

/** No skill has a higher number: PostgreSQL's integers end there. */
const HIGHEST = 2_147_483_647

export async function openCatalogue({ db, listener, log }: CatalogueOptions): Promise<Catalogue> {
  let current = await takeSnapshot(db)
  const learned = new Map<number, Skill>()
  let running: Promise<void> | undefined
  let waiting: Promise<void> | undefined
  let retry: NodeJS.Timeout | undefined
  let closed = false
  await listener.on('catalogue_changed', refreshQuietly)

  return {
    get current() {
      return current
    },
    async learn({ numbers = [], names = [] }) {
      const strange = numbers.filter((number) => number !== undefined && number <= HIGHEST && !current.skill(number))
      const unheard = names.filter((name) => !current.named(name) && unstorable(name) === undefined)
      if (strange.length === 0 && unheard.length === 0) return
      for (const skill of await readSkills(db.queries, strange as number[], unheard)) learned.set(skill.number, skill)
      recall()
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
    recall()
    const milliseconds = Math.round(performance.now() - began)
    log.info({ version: current.version, skills: current.skills.length, milliseconds }, 'the catalogue was taken up')
  }

  /** A snapshot that was begun before a skill was added may come after it was learned. */
  function recall(): void {
    for (const [number, skill] of learned) {
      if (current.skill(number) === skill) continue
      if (current.skill(number)) learned.delete(number)
      else current.learn(skill)
    }
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
