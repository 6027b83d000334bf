import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { type Detail, Problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { MINUTE } from '../platform/clock.ts'
import type { Queries } from '../platform/database/database.ts'
import { runForAllOrganisations } from '../platform/database/tenant-scope.ts'
import type { App } from '../platform/http/server.ts'

export type LoggedApi = 'partner' | 'verification' | 'ats'

export interface LoggedRequest {
  id: number
  at: Date
  api: LoggedApi
  key_id: string | null
  method: string
  route: string
  /** The path with the IDs of records; null for requests that an earlier version logged. */
  path: string | null
  status: number
  code: string | null
  duration_ms: number
  request_id: string
  /** Why the signature of a TEST request did not match; null for other requests. */
  differed: Detail[] | null
}

type NewLogEntry = Omit<LoggedRequest, 'id'> & { org_id: string; mode: string }

const FLUSH_INTERVAL_MS = 1000
/** Limit for each organisation and mode, separately for successful and failed requests; bounds the log during request floods. */
const MAX_ENTRIES_PER_FLUSH = 50
/**
 * Limit for each organisation and mode of requests whose signature is invalid. They are counted separately: anyone who knows the ID of a
 * key can send them, and must not displace the entries of the organisation's own requests.
 */
const MAX_UNAUTHENTICATED_ENTRIES_PER_MINUTE = 20
/** The reason of an invalid signature contains text from the request, which may be long. */
const MAX_REASON_CHARACTERS = 1000

declare module 'fastify' {
  interface FastifyRequest {
    /** Error details returned to a TEST key with an invalid signature. */
    signatureErrors: Detail[] | undefined
  }
}

export interface RequestLogger {
  /** Logs the requests to an API, except requests of unknown organisations. */
  attach(app: App, api: LoggedApi): void
  /** Writes all pending entries to the database. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Opens the request log. Entries are written in batches after the responses; a crash loses at most the last second. */
export function openRequestLogger({ db, clock, log }: Pick<Context, 'db' | 'clock' | 'log'>): RequestLogger {
  let pendingEntries: NewLogEntry[] = []
  let countsByScope = new Map<string, { passed: number; failed: number }>()
  let unauthenticated = { minute: 0, countsByScope: new Map<string, number>() }
  let lastWrite = Promise.resolve()
  const timer = setInterval(flush, FLUSH_INTERVAL_MS)
  timer.unref()

  return {
    attach(app, api) {
      app.addHook('onError', (request, _reply, error, done) => {
        if (error instanceof Problem && error.code === 'UNAUTHORIZED') request.signatureErrors = error.details
        done()
      })
      app.addHook('onResponse', (request, reply, done) => {
        addEntry(request, reply, api)
        done()
      })
    },
    flush,
    async close() {
      clearInterval(timer)
      await flush()
    },
  }

  function addEntry(request: FastifyRequest, reply: FastifyReply, api: LoggedApi) {
    const scope = scopeOf(request)
    if (!scope) return
    const status = reply.statusCode
    const scopeKey = `${scope.orgId} ${scope.mode}`
    const isAuthenticated = request.claimedKey === undefined
    if (!(isAuthenticated ? countEntry(scopeKey, status) : countUnauthenticatedEntry(scopeKey))) return
    pendingEntries.push({
      at: new Date(clock.now()),
      org_id: scope.orgId,
      mode: scope.mode,
      api,
      key_id: scope.keyId ?? null,
      method: request.method,
      route: request.routeOptions.url ?? '',
      path: pathWithIds(request),
      status,
      code: request.errorCode ?? null,
      duration_ms: Math.round(reply.elapsedTime * 100) / 100,
      request_id: request.id,
      differed: request.signatureErrors?.length ? request.signatureErrors.map(truncateReason) : null,
    })
  }

  /** Counts an entry of a request with an invalid signature, and returns whether it is within the limit of this minute. */
  function countUnauthenticatedEntry(scope: string): boolean {
    const minute = Math.floor(clock.now() / MINUTE)
    if (unauthenticated.minute !== minute) unauthenticated = { minute, countsByScope: new Map() }
    const count = (unauthenticated.countsByScope.get(scope) ?? 0) + 1
    unauthenticated.countsByScope.set(scope, count)
    return count <= MAX_UNAUTHENTICATED_ENTRIES_PER_MINUTE
  }

  /** Counts the entry, and returns whether it is within the limit of this flush. */
  function countEntry(scope: string, status: number): boolean {
    let count = countsByScope.get(scope)
    if (!count) {
      count = { passed: 0, failed: 0 }
      countsByScope.set(scope, count)
    }
    const kind = status >= 400 ? 'failed' : 'passed'
    count[kind]++
    return count[kind] <= MAX_ENTRIES_PER_FLUSH
  }

  function flush(): Promise<void> {
    countsByScope = new Map()
    if (pendingEntries.length > 0) {
      const batch = pendingEntries
      pendingEntries = []
      lastWrite = lastWrite
        // The batch has requests of several organisations, although a request of one of them may have started the flush.
        .then(() => runForAllOrganisations(() => insertEntries(db.queries, batch)))
        .catch((error) => log.warn({ err: error, lost: batch.length }, 'writing the request log failed, entries lost'))
    }
    return lastWrite
  }
}

const RECORD_ID = /^[A-Z]{2,4}_[A-Z0-9]{10,40}$/

/**
 * Returns the path of a request with the IDs of records in place of the parameters. Other values can be personal, for example a phone number
 * in the place of an ID.
 */
function pathWithIds({ routeOptions, params }: FastifyRequest): string {
  const values = (params ?? {}) as Record<string, string>
  return (routeOptions.url ?? '').replace(/:(\w+)/g, (parameter, name: string) => {
    const value = values[name] ?? ''
    return RECORD_ID.test(value) ? value : parameter
  })
}

function truncateReason({ path, message }: Detail): Detail {
  return {
    path,
    message: message.length > MAX_REASON_CHARACTERS ? `${message.slice(0, MAX_REASON_CHARACTERS)}…` : message,
  }
}

/** Returns the organisation and mode of a request, if known, even if its signature is invalid. */
function scopeOf({
  caller,
  claimedKey,
  sessionCaller,
  atsKey,
}: FastifyRequest): (OrgScope & { keyId?: string }) | undefined {
  return caller ?? claimedKey ?? sessionCaller?.scope ?? atsKey
}

async function insertEntries(queries: Queries, entries: NewLogEntry[]) {
  const column = <K extends keyof NewLogEntry>(name: K) => entries.map((entry) => entry[name])
  await sql`
    insert into request_log (at, org_id, mode, api, key_id, method, route, path, status, code, duration_ms, request_id, differed)
    select * from unnest(${column('at')}::timestamptz[], ${column('org_id')}::text[], ${column('mode')}::text[],
      ${column('api')}::text[], ${column('key_id')}::text[], ${column('method')}::text[], ${column('route')}::text[], ${column('path')}::text[],
      ${column('status')}::int[], ${column('code')}::text[], ${column('duration_ms')}::real[], ${column('request_id')}::text[],
      ${entries.map(({ differed }) => (differed ? JSON.stringify(differed) : null))}::json[])`.execute(queries)
}

export interface RequestFilter {
  /** Text to search for. */
  q?: string | undefined
  failed?: boolean | undefined
  /** A status such as 404, or a class of statuses such as 4xx. */
  status?: string | undefined
  api?: LoggedApi | undefined
  request_id?: string | undefined
  /** The last request on the previous page. */
  before?: RequestPosition | undefined
  limit: number
}

export interface RequestPosition {
  at: string
  id: number
}

/** Returns logged requests, newest first. */
export async function listRequests(
  queries: Queries,
  { orgId, mode }: OrgScope,
  { before, limit, ...filter }: RequestFilter,
): Promise<LoggedRequest[]> {
  const conditions = [requestCondition({ orgId, mode }, filter)]
  if (before !== undefined) conditions.push(sql`(at, id) < (${new Date(before.at)}, ${before.id})`)
  const { rows } = await sql<LoggedRequest>`
    select id, at, api, key_id, method, route, path, status, code, duration_ms, request_id, differed from request_log
    where ${sql.join(conditions, sql` and `)} order by at desc, id desc limit ${limit}`.execute(queries)
  return rows
}

/** Returns the condition on `request_log` of a filter. `q` is part of a path, an error code, or a whole key ID or request ID. */
export function requestCondition(
  { orgId, mode }: OrgScope,
  { failed, status, api, request_id, q }: Omit<RequestFilter, 'before' | 'limit'>,
) {
  const conditions = [sql`org_id = ${orgId} and mode = ${mode}`]
  if (failed) conditions.push(sql`status >= 400`)
  if (status?.endsWith('xx')) {
    const first = 100 * Number(status[0])
    conditions.push(sql`status between ${first} and ${first + 99}`)
  } else if (status !== undefined) conditions.push(sql`status = ${Number(status)}`)
  if (api !== undefined) conditions.push(sql`api = ${api}`)
  if (request_id !== undefined) conditions.push(sql`request_id = ${request_id}`)
  if (q !== undefined) {
    const pattern = `%${q
      .trim()
      .toLowerCase()
      .replaceAll(/[\\%_]/g, '\\$&')}%`
    conditions.push(
      sql`(lower(method || ' ' || route) like ${pattern} or lower(method || ' ' || path) like ${pattern} or lower(code) like ${pattern} or key_id = ${q.trim()} or request_id = ${q.trim()})`,
    )
  }
  return sql.join(conditions, sql` and `)
}

/** Returns a logged request as the APIs return it. */
export function loggedRequestRecord({ at, differed, path, ...request }: LoggedRequest) {
  return { ...request, path: path ?? request.route, at: at.toISOString(), differed: differed ?? [] }
}
