import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { errorAnswer } from '../api/envelope.ts'
import { Problem, problem } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { DAY } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { defineJob } from '../platform/jobs/queue.ts'
import type { Caller } from './caller.ts'

/** What a handler wants answered. */
export interface Answer {
  status: number
  body: object
  /** The body holds a secret: where it is kept for retries, it is kept encrypted. */
  secret?: boolean
}

const KEPT = DAY
// Answers that a retry should be able to better; so should every answer with Retry-After.
const NOT_KEPT = new Set([401, 402, 429])

export const forgetIdempotencyKeys = defineJob<Record<string, never>>('forget-idempotency-keys')

/**
 * Runs a write in one transaction and answers it. With an Idempotency-Key the first answer is recorded in that same
 * transaction: a retry gets it back, a concurrent call with the same key is turned away, and after a crash at any moment
 * effect and record either both exist or neither.
 */
export async function perform(
  { db, vault, clock }: Pick<Context, 'db' | 'vault' | 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (tx: Tx, caller: Caller) => Promise<Answer>,
): Promise<FastifyReply> {
  const { caller } = request
  const key = caller.idempotencyKey
  if (caller.dryRun) {
    const answer = await rehearse(db, (tx) => work(tx, caller))
    return reply.status(answer.status).send(answer.body)
  }
  if (key === undefined) {
    const answer = await db.transaction(recorded)
    return reply.status(answer.status).send(answer.body)
  }

  const print = fingerprint(request)
  const outcome = await db.transaction(async (tx) => {
    await claim(tx, caller.keyId, key)
    const kept = await findRecord(tx, caller.keyId, key, new Date(clock.now() - KEPT))
    if (kept) {
      if (!kept.fingerprint.equals(print)) throw reused()
      const text = kept.sealed_body ? vault.open(kept.sealed_body, purpose(caller.keyId, key)) : kept.body!
      return { status: kept.status, body: JSON.parse(text) as object, replayed: true }
    }
    const { answer, failure } = await attempt(tx, () => recorded(tx))
    if (failure && !isKept(answer.status, failure)) throw failure
    await insertRecord(tx, answer)
    return { ...answer, replayed: false }
  })
  if (outcome.replayed) reply.header('idempotency-replayed', 'true')
  if (outcome.status >= 400) {
    request.errorCode = (outcome.body as { error?: { code?: string } }).error?.code
    reply.serializer(JSON.stringify).type('application/json; charset=utf-8')
  }
  return reply.status(outcome.status).send(outcome.body)

  async function recorded(tx: Tx): Promise<Answer> {
    const answer = await work(tx, caller)
    await caller.record?.(tx, answer)
    return answer
  }

  async function insertRecord(tx: Tx, answer: Answer) {
    const text = JSON.stringify(answer.body)
    const row = {
      key_id: caller.keyId,
      idempotency_key: key!,
      fingerprint: print,
      status: answer.status,
      body: answer.secret ? null : text,
      sealed_body: answer.secret ? vault.seal(text, purpose(caller.keyId, key!)) : null,
      created_at: new Date(clock.now()),
    }
    await tx
      .insertInto('idempotency_records')
      .values(row)
      .onConflict((conflict) => conflict.columns(['key_id', 'idempotency_key']).doUpdateSet(row)) // one that has aged out
      .execute()
  }
}

class Rehearsed extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super('nothing was kept')
    this.answer = answer
  }
}

/** Does the work, every rule included, and takes all of it back. */
async function rehearse(db: Context['db'], work: (tx: Tx) => Promise<Answer>): Promise<Answer> {
  try {
    return await db.transaction(async (tx) => {
      throw new Rehearsed(await work(tx))
    })
  } catch (error) {
    if (error instanceof Rehearsed) return error.answer
    throw error
  }
}

/** A refusal undoes what the work had written so far, and is an answer to keep all the same. */
async function attempt(tx: Tx, work: () => Promise<Answer>): Promise<{ answer: Answer; failure?: Problem }> {
  await sql`savepoint work`.execute(tx)
  try {
    return { answer: await work() }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    await sql`rollback to savepoint work`.execute(tx)
    const { status, body } = errorAnswer('partner', error)
    return { answer: { status, body }, failure: error }
  }
}

function isKept(status: number, failure: Problem) {
  return status < 500 && !NOT_KEPT.has(status) && failure.retryAfter === undefined
}

/** Held until the transaction ends, however it ends; a crash releases it with the connection. */
async function claim(tx: Tx, keyId: string, key: string) {
  const lock = createHash('sha256').update(`${keyId}\n${key}`).digest().readBigInt64BE()
  const { rows } = await sql<{
    claimed: boolean
  }>`select pg_try_advisory_xact_lock(${lock.toString()}::bigint) as claimed`.execute(tx)
  if (rows[0]!.claimed) return
  throw problem(
    'IDEMPOTENCY_IN_PROGRESS',
    'The first call with this Idempotency-Key is still running; ask again in a moment.',
    {
      retryAfter: 1,
    },
  )
}

function findRecord(tx: Tx, keyId: string, key: string, after: Date) {
  return tx
    .selectFrom('idempotency_records')
    .select(['fingerprint', 'status', 'body', 'sealed_body'])
    .where('key_id', '=', keyId)
    .where('idempotency_key', '=', key)
    .where('created_at', '>', after)
    .executeTakeFirst()
}

function reused() {
  return problem(
    'IDEMPOTENCY_KEY_REUSED',
    'This Idempotency-Key was used for another call; a new call needs a new key.',
    {
      details: [{ path: 'headers.Idempotency-Key', message: 'was used before with another method, path or body' }],
    },
  )
}

function fingerprint(request: FastifyRequest): Buffer {
  const url = request.originalUrl
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  return createHash('sha256').update(`${request.method}\n${path}\n`).update(request.rawBody).digest()
}

function purpose(keyId: string, key: string) {
  return `answer to ${keyId} ${key}`
}

export async function deleteOldRecords(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('idempotency_records')
    .where('created_at', '<=', new Date(now - KEPT))
    .execute()
}
