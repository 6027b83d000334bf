import type { OrgScope } from '../access/caller.ts'
import { listReadyMandates, type MandateTitle } from '../mandates/mandate-rows.ts'
import type { Queries } from '../platform/database/database.ts'
import type { AtsTest } from './adapter.ts'
import { type AtsConnection, getConnection, MAX_LISTED_MANDATES } from './connections.ts'

/** Returns the name of a test: title and company, because an agency has the same title for several companies. */
export function testName({ title, company_name }: Pick<MandateTitle, 'title' | 'company_name'>): string {
  return `${title}, ${company_name}`
}

/** Lists the mandates that a connection offers as tests, newest first. */
export async function listTests(queries: Queries, scope: OrgScope, connectionId: string): Promise<AtsTest[]> {
  const connection = await getConnection(queries, scope, connectionId)
  const mandates = await listReadyMandates(queries, scope, { ids: connection.mandate_ids, limit: MAX_LISTED_MANDATES })
  return mandates.map(({ mandate_id, title, company_name }) => ({
    id: mandate_id,
    name: testName({ title, company_name }),
    description: `Verifies the skills for the job ${title} at ${company_name}.`,
  }))
}

/** Returns whether a connection offers a mandate, whatever its status. */
export function isOffered({ mandate_ids }: Pick<AtsConnection, 'mandate_ids'>, mandateId: string): boolean {
  return mandate_ids === null || mandate_ids.includes(mandateId)
}
