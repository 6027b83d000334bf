import { coalesce } from '../platform/coalesce.ts'
import type { Database } from '../platform/database/database.ts'
import type { Listener } from '../platform/database/listener.ts'
import { runForAllOrganisations } from '../platform/database/tenant-scope.ts'
import type { Log } from '../platform/log.ts'
import { listOwnMeasurableSkills } from './item-store.ts'

/** The skills that organisations can measure with their own items, in memory. Updated shortly after each change in the database. */
export interface OwnSkills {
  /** Returns the numbers of the skills, and of those that were merged into them. */
  of(orgId: string): ReadonlySet<number>
  refresh(): Promise<void>
}

const NO_SKILLS: ReadonlySet<number> = new Set()

export async function openOwnSkills({
  db,
  listener,
  log,
}: {
  db: Database
  listener: Listener
  log: Log
}): Promise<OwnSkills> {
  let skillsByOrganisation = new Map<string, Set<number>>()
  const refresh = coalesce(() => runForAllOrganisations(load))
  await listener.on('skill_items_changed', () => {
    refresh().catch((error) =>
      log.warn({ err: error }, 'reading the skills with own questions failed, retrying at the next change'),
    )
  })
  await refresh()
  return { of: (orgId) => skillsByOrganisation.get(orgId) ?? NO_SKILLS, refresh }

  async function load(): Promise<void> {
    const next = new Map<string, Set<number>>()
    for (const { org_id, skill_number } of await listOwnMeasurableSkills(db.queries))
      next.set(org_id, (next.get(org_id) ?? new Set()).add(skill_number))
    skillsByOrganisation = next
  }
}
