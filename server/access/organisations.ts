import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { linkErrors } from '../platform/text/links.ts'

export interface Organisation {
  org_id: string
  name: string
  service_off: boolean
  created_at: Date
}

const organisationColumns = ['org_id', 'name', 'service_off', 'created_at'] as const

export async function createOrganisation(tx: Tx, name: string, clock: Clock): Promise<Organisation> {
  const linkDetails = linkErrors([['name', name]])
  if (linkDetails.length > 0) throw invalid(linkDetails)
  const now = clock.now()
  return tx
    .insertInto('organisations')
    .values({ org_id: newId('ORG_', now), name, created_at: new Date(now) })
    .returning(organisationColumns)
    .executeTakeFirstOrThrow()
}

export async function listOrganisations(tx: Queries): Promise<Organisation[]> {
  return tx.selectFrom('organisations').select(organisationColumns).orderBy('created_at').orderBy('org_id').execute()
}

export async function getOrganisation(tx: Queries, orgId: string): Promise<Organisation> {
  const organisation = await tx
    .selectFrom('organisations')
    .select(organisationColumns)
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  if (!organisation) throw problem('NOT_FOUND', `Organisation ${orgId} not found.`)
  return organisation
}

/** Disables or enables the partner API for one organisation, or for all if `orgId` is omitted. */
export async function setServiceDisabled(tx: Tx, disabled: boolean, orgId?: string): Promise<void> {
  if (orgId === undefined) {
    await tx.updateTable('service_switch').set({ service_off: disabled }).execute()
    return
  }
  await getOrganisation(tx, orgId)
  await tx.updateTable('organisations').set({ service_off: disabled }).where('org_id', '=', orgId).execute()
}
