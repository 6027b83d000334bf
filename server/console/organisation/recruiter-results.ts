import type { OrgScope } from '../../access/caller.ts'
import type { Candidacy } from '../../campaigns/candidacy.ts'
import type { Queries } from '../../platform/database/database.ts'
import { knockoutOf, resultRecord } from '../../results/record.ts'
import { listResults, type ResultFilter, type ResultPosition } from '../../results/results.ts'

export const verdictFilters = ['to_call', 'qualified', 'not_qualified', 'undecided'] as const
export type VerdictFilter = (typeof verdictFilters)[number]

/** Returns a result with the contact details of its candidate and the text of a knockout question. */
export function recruiterResult(candidacy: Candidacy) {
  const { candidate, ...result } = resultRecord(candidacy)
  return {
    ...result,
    candidate: { ...candidate, phone: candidacy.phone, email: candidacy.email },
    knocked_out_by: 'enrichment' in result.output ? knockoutOf(candidacy) : null,
  }
}

export type RecruiterResult = ReturnType<typeof recruiterResult>

/** Returns whether a result matches the filter. Verdicts are computed from answers, so the database cannot filter by them. */
export function matchesVerdict(
  { status, output }: Pick<RecruiterResult, 'status' | 'output'>,
  verdict: VerdictFilter | undefined,
): boolean {
  if (verdict === undefined) return true
  if (status !== 'completed') return false
  if (verdict === 'not_qualified') return output.qualified === false
  if (verdict === 'undecided') return output.qualified === null
  if (output.qualified !== true) return false
  return verdict === 'qualified' || !('interest' in output) || output.interest !== 'not_interested'
}

const BATCH_SIZE = 500
/**
 * Maximum number of rows read for one page. If too few of them match, the page is shorter, and the next page continues after the
 * last row that was read.
 */
const MAX_ROWS_READ = 4000

export interface RecruiterResultFilter extends Omit<ResultFilter, 'limit' | 'newestFirst'> {
  verdict?: VerdictFilter | undefined
  limit: number
}

/** Returns one page of results, the last updated first. `next` is the position of the next page, or undefined after the last. */
export async function listRecruiterResults(
  queries: Queries,
  scope: OrgScope,
  { verdict, limit, after, ...filter }: RecruiterResultFilter,
): Promise<{ results: RecruiterResult[]; next: ResultPosition | undefined }> {
  const results: RecruiterResult[] = []
  const rowsPerQuery = verdict === undefined ? limit + 1 : BATCH_SIZE
  let position = after
  for (let rowsRead = 0; rowsRead < MAX_ROWS_READ; rowsRead += rowsPerQuery) {
    const rows = await listResults(queries, scope, {
      ...narrowToCompleted(filter, verdict),
      after: position,
      newestFirst: true,
      limit: rowsPerQuery,
    })
    for (const row of rows) {
      const result = recruiterResult(row)
      if (matchesVerdict(result, verdict)) {
        if (results.length === limit) return { results, next: position }
        results.push(result)
      }
      position = { listedAt: row.listed_at.toISOString(), resultId: row.result_id }
    }
    if (rows.length < rowsPerQuery) return { results, next: undefined }
  }
  return { results, next: position }
}

/** Restricts a filter by verdict to completed results: other results have no verdict. */
export function narrowToCompleted<Filter extends Pick<ResultFilter, 'status'>>(
  filter: Filter,
  verdict: VerdictFilter | undefined,
): Filter {
  return verdict !== undefined && filter.status === undefined ? { ...filter, status: 'completed' as const } : filter
}
