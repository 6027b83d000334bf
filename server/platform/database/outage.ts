import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { errorText } from '../error-text.ts'
import { ReadOnlyDatabaseError } from './read-only.ts'

/** SQLSTATE codes and classes (two characters) of a database that cannot serve requests now, but may later. */
const UNAVAILABLE_CODES = new Set([
  '08', // connection exceptions
  '53', // insufficient resources, such as a full disk or too many connections
  '58', // system errors, such as a failed read
  '57P01', // shut down by an administrator
  '57P02', // restarted after a crash of one of its processes
  '57P03', // starting or stopping
  '57P05', // the connection was idle for too long
  '57014', // cancelled by a timeout
  '55P03', // lock timeout
  '25P03', // the transaction was idle for too long
  '25006', // read-only, for example a standby
])
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])
/** The node-postgres driver identifies these errors only by their message. */
const DRIVER_MESSAGES =
  /^(timeout exceeded when trying to connect|timeout expired|Connection terminated|Client has encountered a connection error|Cannot use a pool after calling end)/
const CONNECT_MESSAGES =
  /^(timeout exceeded when trying to connect|timeout expired|Connection terminated due to connection timeout)/

/** Returns whether the cause of an error is a database that is not available, rather than the statement or its data. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isDatabaseUnavailable)
  if (!(error instanceof Error)) return false
  if (error instanceof ReadOnlyDatabaseError) return true
  const { code, syscall } = error as { code?: string; syscall?: string }
  if (error instanceof pg.DatabaseError)
    return code !== undefined && (UNAVAILABLE_CODES.has(code) || UNAVAILABLE_CODES.has(code.slice(0, 2)))
  // A missing file has the code of a missing Unix socket.
  if (code === 'ENOENT') return syscall === 'connect'
  if (code !== undefined && syscall !== undefined) return SOCKET_CODES.has(code)
  return DRIVER_MESSAGES.test(error.message)
}

const rolledBackErrors = new WeakSet<object>()
const unknownOutcomeErrors = new WeakSet<object>()

/** Records whether the transaction that failed with this error may have been committed. */
export function markOutcome(error: unknown, wasCommitting: boolean): void {
  if (typeof error === 'object' && error !== null) (wasCommitting ? unknownOutcomeErrors : rolledBackErrors).add(error)
}

/**
 * Returns whether it is certain that the operation which failed with this error changed nothing. It is not if the connection was lost
 * while a commit, or a statement outside a transaction, was running.
 */
export function isWithoutEffect(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || unknownOutcomeErrors.has(error)) return false
  if (rolledBackErrors.has(error)) return true
  if (error instanceof pg.DatabaseError || error instanceof ReadOnlyDatabaseError) return true
  if (error instanceof AggregateError) return error.errors.every(isWithoutEffect)
  const { syscall, message } = error as { syscall?: string; message?: string }
  return syscall === 'connect' || syscall === 'getaddrinfo' || CONNECT_MESSAGES.test(message ?? '')
}

const RECONNECT_INTERVAL_MS = 500

/** Waits until the database accepts queries. Rejects after the timeout, or immediately if waiting would not help. */
export async function waitForDatabase(
  { pool }: { pool: pg.Pool },
  timeoutMs: number,
  progress: (text: string) => void,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (let isFirst = true; ; isFirst = false) {
    try {
      await pool.query('select 1')
      return
    } catch (error) {
      if (!isDatabaseUnavailable(error) || performance.now() > deadline) throw error
      if (isFirst) progress(`The database is not available, waiting up to ${timeoutMs / 1000} s: ${errorText(error)}`)
      await sleep(RECONNECT_INTERVAL_MS)
    }
  }
}

/** Runs `work` again while the database is not available, such as during a failover. Rejects with its error after the timeout. */
export async function retryWhileUnavailable<T>(work: () => Promise<T>, timeoutMs: number): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isDatabaseUnavailable(error) || performance.now() > deadline) throw error
      await sleep(RECONNECT_INTERVAL_MS)
    }
  }
}
