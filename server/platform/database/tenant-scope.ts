import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import type { Trace } from '../telemetry/trace.ts'

/** Organisation and mode whose rows a request may read and write. Without a mode, the rows of both. */
interface TenantScope {
  orgId: string
  mode?: 'test' | 'live' | undefined
}

/** Created for each request. The guards set the scope when they know the caller. */
export interface ScopeHolder {
  scope: TenantScope | undefined
  /** Undefined unless traces are exported. */
  trace?: Trace | undefined
  /** Whether statements outside a transaction are sent to the replica. */
  readsReplica?: boolean
}

const storage = new AsyncLocalStorage<ScopeHolder | undefined>()

/** Runs `work`, and everything that it starts, with the scope of a request. */
export function runWithScope<T>(holder: ScopeHolder, work: () => T): T {
  return storage.run(holder, work)
}

/** Returns whether the caller already runs with this scope. */
export function hasScope(holder: ScopeHolder): boolean {
  return storage.getStore() === holder
}

/**
 * Runs `work` for all organisations, although a request of one organisation has started it: a batch of several requests, a shared cache,
 * or a background engine.
 */
export function runForAllOrganisations<T>(work: () => T): T {
  return storage.run(undefined, work)
}

/** Returns whether the request that the caller works for reads from the replica. */
export function isReadingFromReplica(): boolean {
  return storage.getStore()?.readsReplica === true
}

/** Sends the remaining statements of the request to the primary. */
export function stopReadingFromReplica(): void {
  const holder = storage.getStore()
  if (holder?.readsReplica) holder.readsReplica = false
}

/** Returns the trace of the request or job that the caller works for, if it is exported. */
export function currentTrace(): Trace | undefined {
  return storage.getStore()?.trace
}

/** Value of the settings for all organisations and for both modes. A session without the settings sees no rows. */
export const ALL = '*'

/** Returns the values of the settings for the current request. */
export function currentScope(): { org: string; mode: string } {
  const { orgId = ALL, mode = ALL } = storage.getStore()?.scope ?? {}
  return { org: orgId, mode }
}

const scopesOfClients = new WeakMap<pg.ClientBase, string>()

/**
 * Sets the scope of the current request on a connection that was just acquired, unless the connection has it already. Row-level
 * security compares the settings with the columns `org_id` and `mode`.
 */
export async function applyScope(client: pg.PoolClient): Promise<void> {
  const { org, mode } = currentScope()
  const scope = `${org} ${mode}`
  if ((scopesOfClients.get(client) ?? `${ALL} ${ALL}`) === scope) return
  scopesOfClients.delete(client)
  await client.query(`select set_config('attestry.org', $1, false), set_config('attestry.mode', $2, false)`, [
    org,
    mode,
  ])
  scopesOfClients.set(client, scope)
}
