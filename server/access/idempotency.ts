import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type ErrorOrigin, errorEnvelope, pathAndQueryOf } from '../api/envelope.ts'
import { Problem, problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { DAY } from '../platform/clock.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import type { Tx } from '../platform/database/database.ts'
import { errorOrigin } from '../platform/http/server.ts'
import { defineJob } from '../platform/jobs/queue.ts'
import type { Caller } from './caller.ts'

/** The response that a handler returns. */
export interface HandlerResponse {
  status: number
  body: object
  /** Whether the body contains a secret, so that it is stored encrypted. */
  secret?: boolean
}

const RECORD_LIFETIME_MS = DAY
// Errors with these statuses are not stored, so that a retry can succeed; neither are errors with Retry-After.
const STATUSES_NOT_STORED = new Set([401, 402, 429])

export const deleteOldIdempotencyRecordsJob = defineJob<Record<string, never>>('forget-idempotency-keys')

/**
 * Runs a write in one transaction and sends the response. With an Idempotency-Key, the first response is stored in the same
 * transaction: a retry receives the stored response, a concurrent call with the same key is rejected, and after a crash either both
 * the effect and the stored response exist or neither does.
 */
export async function runIdempotent(
  { db, vault, clock }: Pick<Context, 'db' | 'vault' | 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Tx, caller: Caller) => Promise<HandlerResponse>,
): Promise<FastifyReply> {
  const { caller } = request
  const idempotencyKey = caller.idempotencyKey
  if (caller.dryRun) {
    const response = await dryRun(db, (tx) => work(tx, caller))
    return reply.status(response.status).send(response.body)
  }
  if (idempotencyKey === undefined) {
    const response = await db.transaction(runWork)
    return reply.status(response.status).send(response.body)
  }

  const requestFingerprint = fingerprintOf(request)
  const outcome = await db.transaction(async (tx) => {
    await lockIdempotencyKey(tx, caller.keyId, idempotencyKey)
    const storedRecord = await findRecord(tx, caller.keyId, idempotencyKey, new Date(clock.now() - RECORD_LIFETIME_MS))
    if (storedRecord) {
      if (!storedRecord.fingerprint.equals(requestFingerprint)) throw keyReusedProblem()
      const bodyJson = storedRecord.sealed_body
        ? vault.open(storedRecord.sealed_body, sealPurpose(caller.keyId, idempotencyKey))
        : storedRecord.body!
      return { status: storedRecord.status, body: JSON.parse(bodyJson) as object, replayed: true }
    }
    const { response, failure } = await runInSavepoint(tx, errorOrigin(request), () => runWork(tx))
    if (failure && !shouldStore(response.status, failure)) throw failure
    await insertRecord(tx, response)
    return { ...response, replayed: false }
  })
  if (outcome.replayed) reply.header('idempotency-replayed', 'true')
  if (outcome.status >= 400) {
    request.errorCode = (outcome.body as { error?: { code?: string } }).error?.code
    reply.serializer(JSON.stringify).type('application/json; charset=utf-8')
  }
  return reply.status(outcome.status).send(outcome.body)

  async function runWork(tx: Tx): Promise<HandlerResponse> {
    const response = await work(tx, caller)
    await caller.record?.(tx, response)
    return response
  }

  async function insertRecord(tx: Tx, response: HandlerResponse) {
    const bodyJson = JSON.stringify(response.body)
    const row = {
      key_id: caller.keyId,
      org_id: caller.orgId,
      mode: caller.mode,
      idempotency_key: idempotencyKey!,
      fingerprint: requestFingerprint,
      status: response.status,
      body: response.secret ? null : bodyJson,
      sealed_body: response.secret ? vault.seal(bodyJson, sealPurpose(caller.keyId, idempotencyKey!)) : null,
      created_at: new Date(clock.now()),
    }
    await tx
      .insertInto('idempotency_records')
      .values(row)
      .onConflict((conflict) => conflict.columns(['key_id', 'idempotency_key']).doUpdateSet(row)) // replaces an expired record
      .execute()
  }
}

class DryRunRollback extends Error {
  readonly response: HandlerResponse

  constructor(response: HandlerResponse) {
    super('dry run: transaction rolled back')
    this.response = response
  }
}

/** Runs the work with all its checks, then rolls the transaction back. */
async function dryRun(db: Context['db'], work: (tx: Tx) => Promise<HandlerResponse>): Promise<HandlerResponse> {
  try {
    return await db.transaction(async (tx) => {
      throw new DryRunRollback(await work(tx))
    })
  } catch (error) {
    if (error instanceof DryRunRollback) return error.response
    throw error
  }
}

/** Runs the work in a savepoint. A problem rolls its writes back and becomes a response that can be stored. */
async function runInSavepoint(
  tx: Tx,
  origin: ErrorOrigin,
  work: () => Promise<HandlerResponse>,
): Promise<{ response: HandlerResponse; failure?: Problem }> {
  await sql`savepoint work`.execute(tx)
  try {
    return { response: await work() }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    await sql`rollback to savepoint work`.execute(tx)
    const { status, body } = errorEnvelope('partner', error, origin)
    return { response: { status, body }, failure: error }
  }
}

function shouldStore(status: number, failure: Problem) {
  return status < 500 && !STATUSES_NOT_STORED.has(status) && failure.retryAfter === undefined
}

/** Locks the Idempotency-Key until the transaction ends. A crash releases the lock with the connection. */
async function lockIdempotencyKey(tx: Tx, keyId: string, key: string) {
  const lockId = createHash('sha256').update(`${keyId}\n${key}`).digest().readBigInt64BE()
  const { rows } = await sql<{
    locked: boolean
  }>`select pg_try_advisory_xact_lock(${lockId.toString()}::bigint) as locked`.execute(tx)
  if (rows[0]!.locked) return
  throw problem(
    'IDEMPOTENCY_IN_PROGRESS',
    'The first call with this Idempotency-Key is still running. Try again in 1 second.',
    {
      retryAfter: 1,
    },
  )
}

function findRecord(tx: Tx, keyId: string, key: string, createdAfter: Date) {
  return tx
    .selectFrom('idempotency_records')
    .select(['fingerprint', 'status', 'body', 'sealed_body'])
    .where('key_id', '=', keyId)
    .where('idempotency_key', '=', key)
    .where('created_at', '>', createdAfter)
    .executeTakeFirst()
}

function keyReusedProblem() {
  return problem(
    'IDEMPOTENCY_KEY_REUSED',
    'This Idempotency-Key was already used for a different call. Send a new key with a new call.',
    {
      details: [{ path: 'headers.Idempotency-Key', message: 'was already used with another method, path or body' }],
    },
  )
}

function fingerprintOf(request: FastifyRequest): Buffer {
  const url = pathAndQueryOf(request.originalUrl)
  const queryStart = url.indexOf('?')
  const path = queryStart < 0 ? url : url.slice(0, queryStart)
  return createHash('sha256').update(`${request.method}\n${path}\n`).update(request.rawBody).digest()
}

/** Binds a sealed body to its key. Changing the text makes stored responses unreadable. */
function sealPurpose(keyId: string, key: string) {
  return `answer to ${keyId} ${key}`
}

export const sealedResponses: SealedColumn = {
  table: 'idempotency_records',
  column: 'sealed_body',
  id: ['key_id', 'idempotency_key'],
  purpose: sealPurpose,
}

export async function deleteOldIdempotencyRecords(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('idempotency_records')
    .where('created_at', '<=', new Date(now - RECORD_LIFETIME_MS))
    .execute()
}
