import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { Context } from '../../context.ts'
import type { Queries } from '../../platform/database/database.ts'
import { queryTokens } from './search-tokens.ts'

export interface CandidateSearch {
  /** For each group of tokens, selects the IDs of the candidates that have them, with the index. */
  groups: RawBuilder<unknown>[]
  /** Selects the IDs of the candidates that match. */
  matches: RawBuilder<unknown>
  isMatch: RawBuilder<unknown>
  /** The same condition without the index. */
  hasTokens: RawBuilder<unknown>
}

/**
 * Returns the conditions for candidates that match a query; undefined if the query contains nothing to search for. A policy of row-level
 * security keeps PostgreSQL from using an index on an array, so the function `candidates_with_tokens` searches instead (decision 65).
 */
export function parseSearch(
  { mailboxes }: Pick<Context, 'mailboxes'>,
  scope: OrgScope,
  query: string | undefined,
): CandidateSearch | undefined {
  const tokenGroups = query === undefined ? [] : queryTokens(mailboxes, scope, query)
  if (tokenGroups.length === 0) return undefined
  const arrays = tokenGroups.map((tokens) => sql`${`{${tokens.join(',')}}`}::bigint[]`)
  const groups = arrays.map((tokens) => sql`select candidates_with_tokens(${scope.orgId}, ${scope.mode}, ${tokens})`)
  const matches = sql.join(groups, sql` union `)
  return {
    groups,
    matches,
    isMatch: sql`l.candidate_id in (${matches})`,
    hasTokens: sql`(${sql.join(
      arrays.map((tokens) => sql`l.tokens @> ${tokens}`),
      sql` or `,
    )})`,
  }
}

/** If more candidates match, a page is found sooner by reading the list in its order than by sorting the matches. */
const MAX_SORTED_MATCHES = 5000

/**
 * Returns whether more candidates match than are worth sorting. A candidate in two groups counts twice, so that PostgreSQL can stop at the
 * maximum.
 */
export async function isFrequent(queries: Queries, { groups }: CandidateSearch): Promise<boolean> {
  const { rows } = await sql`
    select 1 from (${sql.join(groups, sql` union all `)}) as matches offset ${MAX_SORTED_MATCHES} limit 1`.execute(
    queries,
  )
  return rows.length > 0
}
