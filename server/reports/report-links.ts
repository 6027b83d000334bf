import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { type Clock, DAY } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId, randomToken } from '../platform/ids.ts'
import { hashToken } from '../platform/token-hash.ts'

/** The periods of validity that a recruiter can choose, in days. */
export const linkValidityDays = [1, 7, 30] as const
export type LinkValidityDays = (typeof linkValidityDays)[number]

/** More links of one candidate are a sign of a program that creates them in a loop. */
const MAX_VALID_LINKS = 20
const TOKEN_BYTES = 32
/** Links that no longer work are deleted after this time. */
const KEEP_ENDED_MS = 90 * DAY

/** A link to the report of a candidate. Its token is not stored, only a hash. */
export interface ReportLink {
  link_id: string
  candidate_id: string
  created_by: string
  created_at: Date
  expires_at: Date
  times_opened: number
  last_opened_at: Date | null
}

const columns = sql`link_id, candidate_id, created_by, created_at, expires_at, times_opened, last_opened_at`

/** Creates a link to the report of a candidate. The URL is returned once. */
export async function createReportLink(
  tx: Tx,
  { clock, config }: Pick<Context, 'clock' | 'config'>,
  { orgId, mode }: OrgScope,
  { candidateId, days, createdBy }: { candidateId: string; days: LinkValidityDays; createdBy: string },
): Promise<ReportLink & { url: string }> {
  const now = clock.now()
  const { rows: people } = await sql<{ erased: boolean; restricted: boolean }>`
    select o.erased_at is not null as erased, o.restricted_at is not null as restricted
    from candidates c join people o using (person_id)
    where c.candidate_id = ${candidateId} and c.org_id = ${orgId} and c.mode = ${mode} for update of o`.execute(tx)
  const person = people[0]
  if (!person) throw problem('NOT_FOUND', `Candidate ${candidateId} not found.`)
  if (person.erased) throw problem('CONFLICT', 'The person was erased; there is no report to share.')
  if (person.restricted)
    throw problem('CONFLICT', 'The processing of this person’s data is restricted; the report cannot be shared.')
  if ((await listReportLinks(tx, clock, { orgId, mode }, candidateId)).length >= MAX_VALID_LINKS)
    throw problem('CONFLICT', `A candidate can have up to ${MAX_VALID_LINKS} links. Revoke one first.`)
  const token = randomToken(TOKEN_BYTES)
  const { rows } = await sql<ReportLink>`
    insert into report_links (link_id, org_id, mode, candidate_id, token_hash, created_by, created_at, expires_at)
    values (${newId('RL_', now)}, ${orgId}, ${mode}, ${candidateId}, ${hashToken(token)}, ${createdBy}, ${new Date(now)},
      ${new Date(now + days * DAY)})
    returning ${columns}`.execute(tx)
  return { ...rows[0]!, url: `${config.publicUrl ?? ''}${sharedReportPath(token)}` }
}

export function sharedReportPath(token: string): string {
  return `/shared-reports/${token}`
}

/** Lists the valid links of a candidate, newest first. */
export async function listReportLinks(
  queries: Queries,
  clock: Clock,
  { orgId, mode }: OrgScope,
  candidateId: string,
): Promise<ReportLink[]> {
  const { rows } = await sql<ReportLink>`
    select ${columns} from report_links
    where candidate_id = ${candidateId} and org_id = ${orgId} and mode = ${mode} and revoked_at is null
      and expires_at > ${new Date(clock.now())}
    order by link_id desc`.execute(queries)
  return rows
}

/** Revokes a link, which then stops working at once. Returns false if it had been revoked before. */
export async function revokeReportLink(
  tx: Tx,
  clock: Clock,
  { orgId, mode }: OrgScope,
  candidateId: string,
  linkId: string,
): Promise<boolean> {
  const { rows } = await sql<{ was_revoked: boolean }>`
    update report_links l set revoked_at = coalesce(l.revoked_at, ${new Date(clock.now())})
    from report_links before
    where before.link_id = l.link_id and l.link_id = ${linkId} and l.candidate_id = ${candidateId} and l.org_id = ${orgId}
      and l.mode = ${mode}
    returning before.revoked_at is not null as was_revoked`.execute(tx)
  if (!rows[0]) throw problem('NOT_FOUND', `Report link ${linkId} not found.`)
  return !rows[0].was_revoked
}

/** A link that a visitor opens. */
export interface OpenedLink {
  link_id: string
  org_id: string
  mode: 'test' | 'live'
  candidate_id: string
  expires_at: Date
  revoked_at: Date | null
}

export async function findReportLink(queries: Queries, token: string): Promise<OpenedLink | undefined> {
  const { rows } = await sql<OpenedLink>`
    select link_id, org_id, mode, candidate_id, expires_at, revoked_at from report_links
    where token_hash = ${hashToken(token)}`.execute(queries)
  return rows[0]
}

/** Counts that a link was opened. */
export async function countOpened(tx: Tx, clock: Clock, linkId: string): Promise<void> {
  await sql`update report_links set times_opened = times_opened + 1, last_opened_at = ${new Date(clock.now())}
    where link_id = ${linkId}`.execute(tx)
}

/** Deletes links some time after their end. */
export async function deleteEndedLinks(tx: Tx, now: number): Promise<void> {
  await sql`delete from report_links where expires_at < ${new Date(now - KEEP_ENDED_MS)}`.execute(tx)
}
