import type { OwnerScope } from '../../access/caller.ts'
import type { Candidacy } from '../../campaigns/candidacy.ts'
import type { Queries } from '../../platform/database/database.ts'
import { resultRecord } from '../../results/record.ts'
import { listResults, type Position, type ResultFilter } from '../../results/results.ts'

export const verdicts = ['to_call', 'qualified', 'not_qualified'] as const
export type Verdict = (typeof verdicts)[number]

/** A result, and how its candidate is reached: for somebody who has calls to make. */
export function personRecord(candidacy: Candidacy) {
  const { candidate, ...result } = resultRecord(candidacy)
  return { ...result, candidate: { ...candidate, phone: candidacy.phone, email: candidacy.email } }
}

export type Person = ReturnType<typeof personRecord>

/** Verdicts follow from what was answered, which no index knows: results are looked through, a batch at a time. */
export function fits({ status, output }: Pick<Person, 'status' | 'output'>, verdict: Verdict | undefined): boolean {
  if (verdict === undefined) return true
  if (status !== 'completed') return false
  if (verdict === 'not_qualified') return output.qualified === false
  if (output.qualified !== true) return false
  return verdict === 'qualified' || !('interest' in output) || output.interest !== 'not_interested'
}

const BATCH = 500
/** Rows looked at for one page; where so few fit, the page is short and the next one goes on from there. */
const MOST_LOOKED_AT = 4000

export interface PeopleFilter extends Omit<ResultFilter, 'limit' | 'newest'> {
  verdict?: Verdict | undefined
  limit: number
}

/** The newest update first; `next` is where the following page begins, if there may be one. */
export async function listPeople(
  queries: Queries,
  scope: OwnerScope,
  { verdict, limit, after, ...filter }: PeopleFilter,
): Promise<{ people: Person[]; next: Position | undefined }> {
  const people: Person[] = []
  const batch = verdict === undefined ? limit + 1 : BATCH
  let at = after
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += batch) {
    const rows = await listResults(queries, scope, {
      ...narrowed(filter, verdict),
      after: at,
      newest: true,
      limit: batch,
    })
    for (const row of rows) {
      const person = personRecord(row)
      if (fits(person, verdict)) {
        if (people.length === limit) return { people, next: at }
        people.push(person)
      }
      at = { listedAt: row.listed_at.toISOString(), resultId: row.result_id }
    }
    if (rows.length < batch) return { people, next: undefined }
  }
  return { people, next: at }
}

/** There is a verdict on those who completed, and on nobody else. */
export function narrowed<Filter extends Pick<ResultFilter, 'status'>>(
  filter: Filter,
  verdict: Verdict | undefined,
): Filter {
  return verdict !== undefined && filter.status === undefined ? { ...filter, status: 'completed' as const } : filter
}
