import { sql } from 'kysely'
import { problem } from '../../api/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { endSessionsOfOperator } from './console-access.ts'

/** A person who runs the server. */
export interface Operator {
  operator_id: string
  email: string
  created_at: Date
  last_sign_in_at: Date | null
  /** The language of emails, which the person chose; null if they have chosen none. */
  language: string | null
  /** Time of the removal. */
  disabled_at: Date | null
}

/**
 * Ignores the case of ASCII letters only: other letters can have the same lower-case form as an ASCII letter, and an address that
 * merely resembles an operator's must not get an operator's rights.
 */
const hasEmail = (email: string) => sql<boolean>`lower(email collate "C") = lower(${email}::text collate "C")`

/** Returns the operator with this email address, unless they were removed. */
export async function findOperator(queries: Queries, email: string): Promise<Operator | undefined> {
  return queries
    .selectFrom('console_operators')
    .selectAll()
    .where(hasEmail(email))
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
}

/** Returns whether an operator with this email address was removed. */
export async function isRemovedOperator(queries: Queries, email: string): Promise<boolean> {
  const row = await queries
    .selectFrom('console_operators')
    .select('operator_id')
    .where(hasEmail(email))
    .where('disabled_at', 'is not', null)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns all operators, including removed ones, oldest first. */
export async function listOperators(queries: Queries): Promise<Operator[]> {
  return queries.selectFrom('console_operators').selectAll().orderBy('operator_id').execute()
}

/** Adds an operator. Adding a removed operator again restores their access. */
export async function addOperator(tx: Tx, clock: Clock, email: string): Promise<Operator> {
  await lockOperators(tx)
  const restored = await tx
    .updateTable('console_operators')
    .set({ disabled_at: null, email })
    .where(hasEmail(email))
    .where('disabled_at', 'is not', null)
    .returningAll()
    .executeTakeFirst()
  if (restored) return restored
  const now = clock.now()
  const created = await tx
    .insertInto('console_operators')
    .values({ operator_id: newId('OP_', now), email, created_at: new Date(now) })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!created) throw problem('CONFLICT', `${email} is already an operator.`)
  return created
}

/** Removes an operator. Takes effect on their next request, in all their sessions. */
export async function removeOperator(tx: Tx, clock: Clock, operatorId: string): Promise<Operator> {
  await lockOperators(tx)
  const operators = (await listOperators(tx)).filter(({ disabled_at }) => disabled_at === null)
  const operator = operators.find(({ operator_id }) => operator_id === operatorId)
  if (!operator) throw problem('NOT_FOUND', `Operator ${operatorId} not found.`)
  if (operators.length === 1)
    throw problem('CONFLICT', `${operator.email} is the only operator; add another operator first.`)
  const disabled_at = new Date(clock.now())
  await tx.updateTable('console_operators').set({ disabled_at }).where('operator_id', '=', operatorId).execute()
  await endSessionsOfOperator(tx, operator.email)
  return { ...operator, disabled_at }
}

/** Returns the first operator, and whether this call created them because there was none. */
export async function ensureFirstOperator(
  tx: Tx,
  clock: Clock,
  email: string,
): Promise<{ operator: Operator; created: boolean }> {
  await lockOperators(tx)
  const operators = (await listOperators(tx)).filter(({ disabled_at }) => disabled_at === null)
  const existing = operators.find((operator) => operator.email.toLowerCase() === email.toLowerCase()) ?? operators[0]
  if (existing) return { operator: existing, created: false }
  return { operator: await addOperator(tx, clock, email), created: true }
}

export async function recordOperatorSignIn(tx: Tx, clock: Clock, email: string): Promise<void> {
  await tx
    .updateTable('console_operators')
    .set({ last_sign_in_at: new Date(clock.now()) })
    .where(hasEmail(email))
    .execute()
}

/** Serialises changes, so that the last two operators cannot both be removed. */
async function lockOperators(tx: Tx) {
  await sql`select pg_advisory_xact_lock(hashtextextended('console operators', 0))`.execute(tx)
}

export function operatorRecord({ operator_id, email, created_at, last_sign_in_at, disabled_at }: Operator) {
  return {
    operator_id,
    email,
    created_at: created_at.toISOString(),
    last_sign_in_at: last_sign_in_at?.toISOString() ?? null,
    disabled_at: disabled_at?.toISOString() ?? null,
  }
}
