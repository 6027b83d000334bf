import { sql } from 'kysely'
import { coalesce } from '../platform/coalesce.ts'
import type { Database } from '../platform/database/database.ts'
import type { Listener } from '../platform/database/listener.ts'
import { runForAllOrganisations } from '../platform/database/tenant-scope.ts'
import type { Log } from '../platform/log.ts'
import { MIN_ACTIVE_ITEMS } from '../questions/skill-items.ts'

/** The skills that organisations can measure with their own items, in memory. Updated shortly after each change in the database. */
export interface OwnSkills {
  /** Returns the numbers of the skills. */
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
    const { rows } = await sql<{ org_id: string; skill_number: number }>`
      select org_id, skill_number from skill_items where source = 'private' and status = 'active'
      group by org_id, skill_number having count(*) >= ${MIN_ACTIVE_ITEMS}`.execute(db.queries)
    const next = new Map<string, Set<number>>()
    for (const { org_id, skill_number } of rows) next.set(org_id, (next.get(org_id) ?? new Set()).add(skill_number))
    skillsByOrganisation = next
  }
}
