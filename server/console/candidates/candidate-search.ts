import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { Context } from '../../context.ts'
import type { Queries } from '../../platform/database/database.ts'
import { queryTokens } from './search-tokens.ts'

export interface CandidateSearch {
  /** For each group of tokens, selects the IDs of the candidates that have them and the values, with the index. */
  groups: RawBuilder<unknown>[]
  /** Selects the IDs of the candidates that match. */
  matches: RawBuilder<unknown>
  isMatch: RawBuilder<unknown>
  /** Selects the IDs of at least `count` candidates that match, or of all. */
  firstMatches: (count: number) => RawBuilder<unknown>
  /** The condition that a candidate has the tokens of a group, without the index and without the values. */
  hasTokens: RawBuilder<unknown>
}

/**
 * Returns the conditions for candidates that match a query and have `values`, such as the ID of their campaign and their status; undefined if
 * the query contains nothing to search for. A policy of row-level security keeps PostgreSQL from using an index on an array, so functions of
 * the database search instead (decision 65).
 */
export function parseSearch(
  { mailboxes }: Pick<Context, 'mailboxes'>,
  { orgId, mode }: OrgScope,
  query: string | undefined,
  values: string[] = [],
): CandidateSearch | undefined {
  const tokenGroups = query === undefined ? [] : queryTokens(mailboxes, { orgId, mode }, query)
  if (tokenGroups.length === 0) return undefined
  const arrays = tokenGroups.map((tokens) => sql`${`{${tokens.join(',')}}`}::bigint[]`)
  const groups = arrays.map((tokens) =>
    values.length === 0
      ? sql`select candidates_with_tokens(${orgId}, ${mode}, ${tokens})`
      : sql`select candidates_with_tokens_and_values(${orgId}, ${mode}, ${tokens}, ${values}::text[])`,
  )
  const matches = sql.join(groups, sql` union `)
  return {
    groups,
    matches,
    isMatch: sql`l.candidate_id in (${matches})`,
    firstMatches: (count) =>
      sql.join(
        groups.map((group) => sql`(${group} limit ${count})`),
        sql` union `,
      ),
    hasTokens: sql`(${sql.join(
      arrays.map((tokens) => sql`l.tokens @> ${tokens}`),
      sql` or `,
    )})`,
  }
}

/** If more candidates match, a page is found sooner by reading the list in its order than by sorting the matches. */
export const MAX_SORTED_MATCHES = 5000

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
