import { coalesce } from '../platform/coalesce.ts'
import type { Database } from '../platform/database/database.ts'
import type { Listener } from '../platform/database/listener.ts'
import { unstorableReason } from '../platform/http/json.ts'
import type { Log } from '../platform/log.ts'
import { skillNumber } from './ids.ts'
import { LoadedSkills } from './loaded-skills.ts'
import { readSkills, type Snapshot, type SnapshotOptions, type SnapshotSkill, takeSnapshot } from './snapshot.ts'

/** The catalogue in memory. It is reloaded shortly after each change in the database. */
export interface Catalogue {
  readonly current: Snapshot
  /**
   * Loads skills by ID or name. Skills that `current` does not contain are read from the database: they may be new, and reloading
   * the whole catalogue can take seconds. Unknown IDs and names are ignored.
   */
  load(skills: { ids?: string[]; names?: string[] }): Promise<LoadedSkills>
  /** Resolves when `current` includes all changes that were committed before the call. */
  refresh(): Promise<void>
  /**
   * Like `refresh`, after a change that the caller has committed. If reloading fails, the error is logged and not thrown, because the
   * change is stored; the notification of the change reloads the catalogue later.
   */
  refreshAfterChange(): Promise<void>
  /** Stops reloading the catalogue, and stores its index for the next start. */
  close(): Promise<void>
}

export interface CatalogueOptions extends SnapshotOptions {
  db: Database
  listener: Listener
  log: Log
}

const RETRY_DELAY_MS = 1000

/** Largest value of PostgreSQL's integer type. */
const MAX_SKILL_NUMBER = 2_147_483_647

export async function openCatalogue(options: CatalogueOptions): Promise<Catalogue> {
  const { db, listener, log, isMeasurable, indexOnDemand, indexFile } = options
  let current = await takeSnapshot(db, options)
  /** Skills loaded individually because `current` did not have them yet. */
  const recentSkills = new Map<number, SnapshotSkill>()
  const refresh = coalesce(reload)
  let retryTimer: NodeJS.Timeout | undefined
  let closed = false
  await listener.on('catalogue_changed', refreshInBackground)

  return {
    get current() {
      return current
    },
    async load({ ids = [], names = [] }) {
      const missingNumbers = ids
        .map(skillNumber)
        .filter((number) => number !== undefined)
        .filter((number) => number <= MAX_SKILL_NUMBER && !current.skill(number))
      const missingNames = names.filter((name) => !current.skillByName(name) && unstorableReason(name) === undefined)
      if (missingNumbers.length > 0 || missingNames.length > 0) {
        for (const skill of await readSkills(db.queries, missingNumbers, missingNames, isMeasurable))
          recentSkills.set(skill.number, skill)
        addRecentSkills()
      }
      return new LoadedSkills(current)
    },
    refresh,
    async refreshAfterChange() {
      await refresh().catch((error) => log.warn({ err: error }, 'reloading the catalogue after a change failed'))
    },
    async close() {
      closed = true
      clearTimeout(retryTimer)
      if (!indexOnDemand) await indexFile?.save(current.index, current.skills)
    },
  }

  async function reload(): Promise<void> {
    if (closed) return
    const { version } = await db.queries.selectFrom('catalogue_version').select('version').executeTakeFirstOrThrow()
    if (version === current.version) return
    const startedAt = performance.now()
    current = await takeSnapshot(db, options)
    addRecentSkills()
    const milliseconds = Math.round(performance.now() - startedAt)
    log.info({ version: current.version, skills: current.skills.length, milliseconds }, 'catalogue reloaded')
  }

  /** Adds the recent skills to `current`, and forgets those that the snapshot itself contains. */
  function addRecentSkills(): void {
    for (const [number, skill] of recentSkills) {
      if (current.skill(number) === skill) continue
      if (current.skill(number)) recentSkills.delete(number)
      else current.add(skill)
    }
  }

  function refreshInBackground(): void {
    clearTimeout(retryTimer)
    refresh().catch((error) => {
      if (closed) return
      log.warn({ err: error }, 'reloading the catalogue failed, retrying')
      retryTimer = setTimeout(refreshInBackground, RETRY_DELAY_MS)
      retryTimer.unref()
    })
  }
}
