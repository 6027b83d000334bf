import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { OwnerScope } from '../../access/caller.ts'
import { type Detail, Problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { DAY } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import type { App } from '../../platform/http/server.ts'

export type LoggedApi = 'partner' | 'verification'

export interface LoggedRequest {
  id: number
  at: Date
  api: LoggedApi
  key_id: string | null
  method: string
  route: string
  status: number
  code: string | null
  duration_ms: number
  request_id: string
  differed: Detail[] | null
}

type Entry = Omit<LoggedRequest, 'id'> & { org_id: string; mode: string }

const EVERY = 1000
/** Of one organisation and mode in one writing, and as many again of those that failed: a flood does not fill the disk. */
const MOST_A_TURN = 50
const KEPT = 3 * DAY

declare module 'fastify' {
  interface FastifyRequest {
    /** What the server told a TEST key about a signature that it could not verify. */
    differed: Detail[] | undefined
  }
}

export interface RequestLog {
  /** Takes part in an API: hears of every call whose organisation is known. */
  listen(app: App, api: LoggedApi): void
  /** Writes down what waits. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Written behind the answers, many at a time: no caller waits for it, and a crash loses a second of it at most. */
export function openRequestLog({ db, clock, log }: Pick<Context, 'db' | 'clock' | 'log'>): RequestLog {
  let waiting: Entry[] = []
  let counts = new Map<string, { passed: number; failed: number }>()
  let writing = Promise.resolve()
  const timer = setInterval(flush, EVERY)
  timer.unref()

  return {
    listen(app, api) {
      app.addHook('onError', (request, _reply, error, done) => {
        if (error instanceof Problem && error.code === 'UNAUTHORIZED') request.differed = error.details
        done()
      })
      app.addHook('onResponse', (request, reply, done) => {
        note(request, reply, api)
        done()
      })
    },
    flush,
    async close() {
      clearInterval(timer)
      await flush()
    },
  }

  function note(request: FastifyRequest, reply: FastifyReply, api: LoggedApi) {
    const owner = ownerOf(request)
    if (!owner) return
    const status = reply.statusCode
    if (!hasRoom(`${owner.orgId} ${owner.mode}`, status)) return
    waiting.push({
      at: new Date(clock.now()),
      org_id: owner.orgId,
      mode: owner.mode,
      api,
      key_id: owner.keyId ?? null,
      method: request.method,
      route: request.routeOptions.url ?? '',
      status,
      code: request.errorCode ?? null,
      duration_ms: Math.round(reply.elapsedTime * 100) / 100,
      request_id: request.id,
      differed: request.differed?.length ? request.differed : null,
    })
  }

  function hasRoom(owner: string, status: number): boolean {
    let count = counts.get(owner)
    if (!count) {
      count = { passed: 0, failed: 0 }
      counts.set(owner, count)
    }
    const kind = status >= 400 ? 'failed' : 'passed'
    count[kind]++
    return count[kind] <= MOST_A_TURN
  }

  function flush(): Promise<void> {
    counts = new Map()
    if (waiting.length > 0) {
      const batch = waiting
      waiting = []
      writing = writing
        .then(() => write(db.queries, batch))
        .catch((error) => log.warn({ err: error, lost: batch.length }, 'the request log could not be written'))
    }
    return writing
  }
}

/** Whose call it was, as far as that is known: also of one whose signature was wrong. */
function ownerOf({ caller, claimed, guest }: FastifyRequest): (OwnerScope & { keyId?: string }) | undefined {
  return caller ?? claimed ?? guest?.scope
}

async function write(queries: Queries, entries: Entry[]) {
  const column = <K extends keyof Entry>(name: K) => entries.map((entry) => entry[name])
  await sql`
    insert into request_log (at, org_id, mode, api, key_id, method, route, status, code, duration_ms, request_id, differed)
    select * from unnest(${column('at')}::timestamptz[], ${column('org_id')}::text[], ${column('mode')}::text[],
      ${column('api')}::text[], ${column('key_id')}::text[], ${column('method')}::text[], ${column('route')}::text[],
      ${column('status')}::int[], ${column('code')}::text[], ${column('duration_ms')}::real[], ${column('request_id')}::text[],
      ${entries.map(({ differed }) => (differed ? JSON.stringify(differed) : null))}::json[])`.execute(queries)
}

export interface RequestFilter {
  failed?: boolean | undefined
  api?: LoggedApi | undefined
  request_id?: string | undefined
  before?: number | undefined
  limit: number
}

/** Newest first. */
export async function listRequests(
  queries: Queries,
  { orgId, mode }: OwnerScope,
  { failed, api, request_id, before, limit }: RequestFilter,
): Promise<LoggedRequest[]> {
  const conditions = [sql`org_id = ${orgId} and mode = ${mode}`]
  if (failed) conditions.push(sql`status >= 400`)
  if (api !== undefined) conditions.push(sql`api = ${api}`)
  if (request_id !== undefined) conditions.push(sql`request_id = ${request_id}`)
  if (before !== undefined) conditions.push(sql`id < ${before}`)
  const { rows } = await sql<LoggedRequest>`
    select id, at, api, key_id, method, route, status, code, duration_ms, request_id, differed from request_log
    where ${sql.join(conditions, sql` and `)} order by id desc limit ${limit}`.execute(queries)
  return rows
}

export async function deleteOldRequests(tx: Tx, now: number): Promise<void> {
  await sql`delete from request_log where at <= ${new Date(now - KEPT)}`.execute(tx)
}
