import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import type { Context } from '../../context.ts'
import type { Queries } from '../../platform/database/database.ts'
import { queryTokens } from './search-tokens.ts'

/** Conditions that a search compares together with its tokens. */
export interface SearchConditions {
  /** Values that the index of the search contains, such as the ID of the campaign and the status. */
  values?: string[]
  withoutDecision?: boolean
  /** The ID of a member, or `none` for candidates who are not assigned. */
  assignedTo?: string | undefined
  /** An array of the IDs of campaigns. */
  campaignIds?: RawBuilder<unknown> | undefined
  updatedAfter?: Date | undefined
}

export interface CandidateSearch {
  /** Selects `candidate_id` and the sorted columns of at most `limit` candidates that match, with the index. */
  matches: (limit: number) => RawBuilder<unknown>
  /** The condition that a candidate has the tokens, without the index and without the other conditions. */
  hasTokens: RawBuilder<unknown>
}

/**
 * Returns the conditions for candidates that match a query; undefined if the query contains nothing to search for. A policy of row-level
 * security keeps PostgreSQL from using an index on an array, so a function of the database searches instead (decision 65).
 */
export function parseSearch(
  { mailboxes }: Pick<Context, 'mailboxes'>,
  scope: OrgScope,
  query: string | undefined,
  conditions: SearchConditions = {},
): CandidateSearch | undefined {
  const tokenGroups = query === undefined ? [] : queryTokens(mailboxes, scope, query)
  if (tokenGroups.length === 0) return undefined
  const arrays = tokenGroups.map((tokens) => sql`${`{${tokens.join(',')}}`}::bigint[]`)
  return {
    matches: (limit) => matchesOfIndex(scope, arrays, conditions, limit),
    hasTokens: sql`(${sql.join(
      arrays.map((tokens) => sql`l.tokens @> ${tokens}`),
      sql` or `,
    )})`,
  }
}

/**
 * Selects `candidate_id` and the sorted columns of at most `limit` candidates that have all tokens of one array, if there are any, and
 * meet the conditions. Without tokens, there must be values.
 */
export function matchesOfIndex(
  { orgId, mode }: OrgScope,
  [idTokens = sql`null`, otherTokens = sql`null`]: RawBuilder<unknown>[],
  { values = [], withoutDecision = false, assignedTo, campaignIds, updatedAfter }: SearchConditions,
  limit: number,
): RawBuilder<unknown> {
  return sql`
    select candidate_id, listed_at, enrolled_at, completed_at
    from candidate_matches(${orgId}, ${mode}, ${idTokens}, ${otherTokens}, ${values}::text[], ${withoutDecision},
      ${assignedTo ?? null}, ${campaignIds ?? null}, ${updatedAfter ?? null}::timestamptz, ${limit})`
}

/** If more candidates match, a page is found sooner by reading the list in its order than by sorting the matches. */
export const MAX_SORTED_MATCHES = 10_000

/** Returns whether more candidates match than are worth sorting. */
export async function isFrequent(queries: Queries, { matches }: CandidateSearch): Promise<boolean> {
  const { rows } = await sql`
    select 1 from (${matches(MAX_SORTED_MATCHES + 1)}) as matches offset ${MAX_SORTED_MATCHES}`.execute(queries)
  return rows.length > 0
}
