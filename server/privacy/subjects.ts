import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { type EmbedView, findOpenedPage } from '../embeds/embed-sessions.ts'
import type { SubjectKind } from '../notices/notice.ts'
import type { Queries } from '../platform/database/database.ts'
import { hashToken } from '../platform/token-hash.ts'

/** The candidacy, session or review that a personal link belongs to. */
export interface Subject {
  kind: SubjectKind
  /** ID of the candidate or of the verification. */
  id: string
  scope: OrgScope
  /** Null if the row was stored before the table `people` existed and has not been assigned to a person yet. */
  personId: string | null
  testClockId: string | null
  isErased: boolean
}

interface SubjectRow {
  id: string
  org_id: string
  mode: 'test' | 'live'
  person_id: string | null
  test_clock_id: string | null
  is_erased: boolean
}

const SELECTIONS = {
  candidate: (isToken: RawBuilder<boolean>) => sql<SubjectRow>`
    select c.candidate_id as id, c.org_id, c.mode, c.person_id, g.test_clock_id, p.erased_at is not null as is_erased
    from candidates c join campaigns g using (campaign_id) left join people p on p.person_id = c.person_id
    where ${isToken}`,
  session: (isToken: RawBuilder<boolean>) => sql<SubjectRow>`
    select s.verification_id as id, s.org_id, s.mode, s.person_id, s.test_clock_id, p.erased_at is not null as is_erased
    from verification_sessions s left join people p on p.person_id = s.person_id
    where ${isToken}`,
  review: (isToken: RawBuilder<boolean>) => sql<SubjectRow>`
    select r.verification_id as id, s.org_id, s.mode, r.person_id, s.test_clock_id, p.erased_at is not null as is_erased
    from verification_reviews r join verification_sessions s using (verification_id) left join people p on p.person_id = r.person_id
    where ${isToken}`,
}

/**
 * Returns the candidacy, session or review of a link or of an embedded page, even if it has expired: people can use their rights as long as
 * data is stored. An embedded page that was ended, by a revocation or an erasure, is unknown.
 */
export async function findSubject(queries: Queries, kind: SubjectKind, token: string): Promise<Subject | undefined> {
  const { rows } = await SELECTIONS[kind](await hasToken(queries, kind, token)).execute(queries)
  const [row] = rows
  if (!row) return undefined
  const { id, org_id, mode, person_id, test_clock_id, is_erased } = row
  return {
    kind,
    id,
    scope: { orgId: org_id, mode },
    personId: person_id,
    testClockId: test_clock_id,
    isErased: is_erased,
  }
}

const TABLES = {
  candidate: { alias: 'c', id: 'c.candidate_id', view: 'candidate' },
  session: { alias: 's', id: 's.verification_id', view: 'student' },
  review: { alias: 'r', id: 'r.verification_id', view: undefined },
} satisfies Record<SubjectKind, { alias: string; id: string; view: EmbedView | undefined }>

/** Returns the condition that a row is that of a token: the one of the personal link, or of an embedded page. */
async function hasToken(queries: Queries, kind: SubjectKind, token: string): Promise<RawBuilder<boolean>> {
  const { alias, id, view } = TABLES[kind]
  const page = view && (await findOpenedPage(queries, view, token))
  return page && page.ended_reason === null
    ? sql`${sql.ref(id)} = ${page.target_id}`
    : sql`${sql.ref(`${alias}.token_hash`)} = ${hashToken(token)}`
}
