import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { type Clock, DAY, formatSeconds, HOUR, MINUTE } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId, randomToken } from '../platform/ids.ts'
import { hashToken } from '../platform/token-hash.ts'
import { isListed, lockOrigins, parseOrigin } from './origins.ts'

export const embedViews = ['candidate', 'student', 'report'] as const
export type EmbedView = (typeof embedViews)[number]

/** Time within which the URL must be opened. */
const OPENING_PERIOD_MS = 5 * MINUTE
/** Time for which an opened page works. */
const PAGE_LIFETIME_MS = 2 * HOUR
/** More URLs for one page that nobody opens are a sign of a program that creates them in a loop. */
export const MAX_UNOPENED_SESSIONS = 20
const TOKEN_BYTES = 32
/** Prefix of the tokens of opened pages, by which they are distinguished from the tokens of personal links without a query. */
const PAGE_TOKEN_PREFIX = 'emp_'
/** Sessions are deleted some time after their end, so that an old URL shows why it no longer works. */
const KEEP_ENDED_MS = 7 * DAY

/** The page to embed, and the person whose data it shows. */
export interface EmbedTarget {
  view: EmbedView
  /** ID of the candidate or, in the view of a student, of the verification. */
  targetId: string
  personId: string
}

export interface EmbedInput {
  origin: string
  language?: string | undefined
}

export interface CreatedEmbedSession {
  embedId: string
  view: EmbedView
  origin: string
  /** Contains the token in its fragment. */
  url: string
  expiresAt: Date
}

/** Creates a session for one page on one origin. Only this result contains the token; the database stores its hash. */
export async function createEmbedSession(
  tx: Tx,
  { clock, config }: Pick<Context, 'clock' | 'config'>,
  scope: OrgScope,
  { view, targetId, personId }: EmbedTarget,
  input: EmbedInput,
): Promise<CreatedEmbedSession> {
  const { orgId, mode } = scope
  const now = clock.now()
  const origin = await requireListedOrigin(tx, scope, input.origin)
  await limitUnopenedSessions(tx, now, view, targetId)
  const embedId = newId('EMB_', now)
  const token = randomToken(TOKEN_BYTES)
  const expiresAt = new Date(now + OPENING_PERIOD_MS)
  await sql`
    insert into embed_sessions
      (embed_id, org_id, mode, view, target_id, person_id, origin, language, token_hash, created_at, expires_at)
    values (${embedId}, ${orgId}, ${mode}, ${view}, ${targetId}, ${personId}, ${origin}, ${input.language ?? null},
      ${hashToken(token)}, ${new Date(now)}, ${expiresAt})`.execute(tx)
  const url = `${config.publicUrl ?? ''}/embed/${embedId}#token=${token}`
  return { embedId, view, origin, url, expiresAt }
}

async function limitUnopenedSessions(tx: Tx, now: number, view: EmbedView, targetId: string): Promise<void> {
  const { rows } = await sql<{ count: number; first_expires_at: Date | null }>`
    select count(*)::int as count, min(expires_at) as first_expires_at from embed_sessions
    where target_id = ${targetId} and view = ${view} and opened_at is null and ended_at is null and expires_at > ${new Date(now)}`.execute(
    tx,
  )
  const { count, first_expires_at } = rows[0]!
  if (count < MAX_UNOPENED_SESSIONS) return
  const retryAfter = Math.ceil((first_expires_at!.getTime() - now) / 1000)
  throw problem(
    'RATE_LIMITED',
    `This page has ${MAX_UNOPENED_SESSIONS} embed sessions that were not opened. Open one of them, or try again in ${formatSeconds(retryAfter)}.`,
    { retryAfter },
  )
}

async function requireListedOrigin(tx: Tx, scope: OrgScope, text: string): Promise<string> {
  const parsed = parseOrigin(text, scope.mode)
  if ('error' in parsed) throw invalid([{ path: 'origin', message: parsed.error }])
  if (!isListed(parsed.origin, await lockOrigins(tx, scope)))
    throw invalid([
      {
        path: 'origin',
        message: `must be one of the allowed origins of the organisation in ${scope.mode.toUpperCase()} mode; an owner adds ${parsed.origin} on the page Keys of the console`,
      },
    ])
  return parsed.origin
}

/** The part of a session that the page needs before it is opened. It contains no personal data. */
export interface EmbedFrame {
  org_id: string
  mode: 'test' | 'live'
  view: EmbedView
  origin: string
  language: string | null
}

export async function findEmbedFrame(queries: Queries, embedId: string): Promise<EmbedFrame | undefined> {
  const { rows } = await sql<EmbedFrame>`
    select org_id, mode, view, origin, language from embed_sessions where embed_id = ${embedId}`.execute(queries)
  return rows[0]
}

interface EmbedRow {
  org_id: string
  expires_at: Date
  opened_at: Date | null
  ended_reason: 'revoked' | 'erased' | null
}

export interface OpenedEmbed {
  orgId: string
  pageToken: string
  expiresAt: Date
}

export function linkNotFoundProblem() {
  return problem('NOT_FOUND', 'This link is not valid.')
}

/** Exchanges the token in the URL for the token of the opened page. Each URL can be opened once. */
export async function openEmbedSession(tx: Tx, clock: Clock, embedId: string, token: string): Promise<OpenedEmbed> {
  const { rows } = await sql<EmbedRow>`
    select org_id, expires_at, opened_at, ended_reason from embed_sessions
    where embed_id = ${embedId} and token_hash = ${hashToken(token)} for update`.execute(tx)
  const session = rows[0]
  if (!session) throw linkNotFoundProblem()
  if (session.ended_reason !== null) throw endedProblem(session.ended_reason)
  if (session.opened_at !== null) throw problem('LINK_EXPIRED', 'This link was already opened. It works once.')
  const now = clock.now()
  if (now >= session.expires_at.getTime()) throw problem('LINK_EXPIRED', 'This link has expired.')
  const pageToken = `${PAGE_TOKEN_PREFIX}${randomToken(TOKEN_BYTES)}`
  const expiresAt = new Date(now + PAGE_LIFETIME_MS)
  await sql`
    update embed_sessions set opened_at = ${new Date(now)}, page_token_hash = ${hashToken(pageToken)}, page_expires_at = ${expiresAt}
    where embed_id = ${embedId}`.execute(tx)
  return { orgId: session.org_id, pageToken, expiresAt }
}

function endedProblem(reason: 'revoked' | 'erased') {
  return reason === 'erased'
    ? problem('DATA_ERASED', 'The data of this person was erased.')
    : problem('LINK_EXPIRED', 'This link was revoked.')
}

export function isPageToken(token: string): boolean {
  return token.startsWith(PAGE_TOKEN_PREFIX)
}

/** An opened page, which may have ended. */
export interface OpenedPage {
  org_id: string
  mode: 'test' | 'live'
  target_id: string
  page_expires_at: Date
  ended_reason: 'revoked' | 'erased' | null
}

/** Returns the opened page of a token; undefined if the token is not that of a page with this view. */
export async function findOpenedPage(
  queries: Queries,
  view: EmbedView,
  token: string,
): Promise<OpenedPage | undefined> {
  if (!isPageToken(token)) return undefined
  const { rows } = await sql<OpenedPage>`
    select org_id, mode, target_id, page_expires_at, ended_reason from embed_sessions
    where page_token_hash = ${hashToken(token)} and view = ${view}`.execute(queries)
  return rows[0]
}

/** Returns why an opened page no longer works; undefined if it works. */
export function pageEnd({ page_expires_at, ended_reason }: OpenedPage, clock: Clock) {
  return ended_reason ?? (clock.now() >= page_expires_at.getTime() ? 'expired' : undefined)
}

/** Ends the sessions for a page, for example because the personal link to it was revoked. */
export async function endSessionsOfTarget(tx: Tx, clock: Clock, view: EmbedView, targetId: string): Promise<void> {
  await sql`update embed_sessions set ended_at = ${new Date(clock.now())}, ended_reason = 'revoked'
    where target_id = ${targetId} and view = ${view} and ended_at is null`.execute(tx)
}

/** Ends the sessions of an organisation whose origin is no longer allowed. */
export async function endSessionsOfOrigins(
  tx: Tx,
  clock: Clock,
  { orgId, mode }: OrgScope,
  isRemoved: (origin: string) => boolean,
): Promise<void> {
  const now = new Date(clock.now())
  const { rows } = await sql<{ origin: string }>`
    select distinct origin from embed_sessions where org_id = ${orgId} and mode = ${mode} and ended_at is null`.execute(
    tx,
  )
  const removed = rows.map(({ origin }) => origin).filter(isRemoved)
  if (removed.length === 0) return
  await sql`update embed_sessions set ended_at = ${now}, ended_reason = 'revoked'
    where org_id = ${orgId} and mode = ${mode} and origin = any (${removed}) and ended_at is null`.execute(tx)
}

/** Deletes sessions some time after their end. */
export async function deleteEndedEmbedSessions(tx: Tx, now: number): Promise<void> {
  await sql`delete from embed_sessions where expires_at < ${new Date(now - KEEP_ENDED_MS)}`.execute(tx)
}
