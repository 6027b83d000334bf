import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectionSettings } from '../../platform/database/connection-settings.ts'
import type { ReadScope } from './delivery-queue.ts'
import { type Endpoint, type EndpointDeps, openEndpoint } from './endpoint.ts'
import { openEndpointLocks } from './endpoint-locks.ts'

/** The endpoints that this process delivers to. It holds a lock on each, so no other process delivers to them. */
export interface EndpointPool {
  /** Reads the endpoint's due deliveries, after claiming the endpoint if necessary. */
  wake(webhookId: string, scope: ReadScope): void
  /** Applies a change of the webhook. */
  reload(webhookId: string): void
  reloadAll(): void
  /** Claims the endpoints that `wake` was called for, except those that another process has locked. */
  claim(): Promise<void>
  /** Closes and unlocks the endpoints that have been idle for a while. */
  closeIdle(): Promise<void>
  readonly connected: boolean
  readonly size: number
  readonly inFlight: number
  /** The `performance.now()` at which an endpoint was last found to be locked by another process. */
  readonly otherProcessSeenAt: number
  /** Waits for the attempts in flight, up to `graceMs`, then aborts them. Keeps the locks. */
  stop(graceMs: number): Promise<void>
  /** Releases the locks. */
  close(): Promise<void>
}

export interface EndpointPoolOptions {
  connection: ConnectionSettings
  deps: EndpointDeps
  onConnected(): void
}

const MAX_OPEN_ENDPOINTS = 2000
const MAX_CLAIM_BATCH_ENDPOINTS = 500
/** Idle endpoints stay open this long, so that the next event finds open connections. */
const IDLE_CLOSE_MS = 3000
const STOP_POLL_INTERVAL_MS = 10

export function openEndpointPool({ connection, deps, onConnected }: EndpointPoolOptions): EndpointPool {
  const { clock, log } = deps
  const endpoints = new Map<string, Endpoint>()
  const unclaimedIds = new Set<string>()
  let claiming = false
  let otherProcessSeenAt = Number.NEGATIVE_INFINITY
  let stopped = false

  const locks = openEndpointLocks({
    connection,
    log,
    onConnected() {
      for (const id of endpoints.keys()) unclaimedIds.add(id)
      onConnected()
      void claim()
    },
    onLost() {
      for (const endpoint of endpoints.values()) endpoint.suspend()
    },
  })

  return {
    wake,
    reload(webhookId) {
      const endpoint = endpoints.get(webhookId)
      if (endpoint) endpoint.reload()
      else wake(webhookId, 'any')
    },
    reloadAll() {
      for (const endpoint of endpoints.values()) endpoint.reload()
    },
    claim,
    closeIdle,
    get connected() {
      return locks.connected
    },
    get size() {
      return endpoints.size
    },
    get inFlight() {
      return [...endpoints.values()].reduce((total, { inFlight }) => total + inFlight, 0)
    },
    get otherProcessSeenAt() {
      return otherProcessSeenAt
    },
    stop,
    close: () => locks.close(),
  }

  function wake(webhookId: string, scope: ReadScope) {
    if (stopped) return
    const endpoint = endpoints.get(webhookId)
    if (endpoint) return endpoint.wake(scope)
    unclaimedIds.add(webhookId)
    void claim()
  }

  async function claim() {
    if (claiming || stopped || !locks.connected) return
    claiming = true
    try {
      while (unclaimedIds.size > 0 && !stopped) {
        const ids = nextClaimBatch()
        if (ids.length === 0) break
        const claimedIds = new Set(await locks.claim(ids))
        if (stopped) return
        for (const id of ids) applyClaim(id, claimedIds.has(id))
      }
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'claiming webhook endpoints failed, retrying')
    } finally {
      claiming = false
    }
  }

  /**
   * Returns the next endpoints to claim: open ones, whose locks were lost, and new ones up to the limit. New ones above the limit
   * are woken again later.
   */
  function nextClaimBatch(): string[] {
    const ids = [...unclaimedIds].slice(0, MAX_CLAIM_BATCH_ENDPOINTS)
    for (const id of ids) unclaimedIds.delete(id)
    const newIds = ids.filter((id) => !endpoints.has(id))
    for (const id of newIds.splice(Math.max(0, MAX_OPEN_ENDPOINTS - endpoints.size))) deps.scheduleWake(id, clock.now())
    return [...newIds, ...ids.filter((id) => endpoints.has(id))]
  }

  function applyClaim(id: string, isClaimed: boolean) {
    const endpoint = endpoints.get(id)
    // A `wake` during the claim needs no second lock: an opened or resumed endpoint reads all due deliveries anyway.
    if (isClaimed) unclaimedIds.delete(id)
    if (isClaimed && !endpoint) endpoints.set(id, openEndpoint(id, deps))
    else if (isClaimed) endpoint!.resume()
    else {
      otherProcessSeenAt = performance.now()
      endpoints.delete(id)
      endpoint?.close()
    }
  }

  async function closeIdle() {
    const idleBefore = performance.now() - IDLE_CLOSE_MS
    const idleEndpoints = [...endpoints].filter(
      ([, { idleSince }]) => idleSince !== undefined && idleSince < idleBefore,
    )
    for (const [id, endpoint] of idleEndpoints) {
      endpoints.delete(id)
      endpoint.close()
    }
    await locks.release(idleEndpoints.map(([id]) => id)).catch(() => {}) // a lost connection has released them
  }

  async function stop(graceMs: number) {
    stopped = true
    const allEndpoints = [...endpoints.values()]
    for (const endpoint of allEndpoints) endpoint.suspend()
    const deadline = performance.now() + graceMs
    while (allEndpoints.some(({ inFlight }) => inFlight > 0) && performance.now() < deadline)
      await pause(STOP_POLL_INTERVAL_MS)
    for (const endpoint of allEndpoints) endpoint.abort()
  }
}
