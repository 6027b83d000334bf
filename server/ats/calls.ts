import { findStoredAtsKey } from '../access/ats-keys.ts'
import type { Mode } from '../access/keys.ts'
import type { Context } from '../context.ts'
import { SECOND } from '../platform/clock.ts'
import { openRequestSender, type RequestSender, type SendResult } from '../webhooks/delivery/sender.ts'
import { resolveName } from '../webhooks/target-rules.ts'
import { type AtsAdapter, type AtsRequest, type CallContext, expectsKey } from './adapter.ts'
import { adapters } from './adapters.ts'
import { type AtsConnection, openCredentials } from './connections.ts'
import { reportUrlError, targetRules } from './hosts.ts'

const REQUEST_TIMEOUT_MS = 10 * SECOND
/** Limit for each connection, so that an ATS that does not respond does not delay the calls to others. */
export const MAX_IN_FLIGHT_PER_CONNECTION = 8
const MAX_SENDERS = 100
/** Ashby's firewall rejects requests without this header. */
const USER_AGENT = 'Attestry-ATS/1'

/** Sends calls to applicant tracking systems, only to hosts that are allowed. */
export interface AtsSender {
  send(adapter: AtsAdapter, mode: Mode, request: AtsRequest): Promise<SendResult>
  /** Aborts the calls in flight. */
  abort(): Promise<void>
}

export function openAtsSender({ config }: Pick<Context, 'config'>): AtsSender {
  const senders = new Map<string, Promise<RequestSender>>()
  return {
    async send(adapter, mode, request) {
      const error = reportUrlError(request.url, adapter, mode, config)
      if (error) return unsent(`not sent: the URL ${error}`)
      const { pathname, search, origin } = new URL(request.url)
      const sender = await senderOf(origin, mode)
      const body = request.body === undefined ? '' : JSON.stringify(request.body)
      const headers = ['user-agent', USER_AGENT, 'authorization', request.authorization, 'accept', 'application/json']
      if (request.body !== undefined) headers.push('content-type', 'application/json')
      for (const header of Object.entries(request.headers ?? {})) headers.push(...header)
      const result = await sender.request(request.method, pathname + search, headers, body)
      const rejection = result.error === null ? adapter.findRejection?.(result.responseText) : undefined
      return rejection === undefined ? result : { ...result, error: rejection }
    },
    async abort() {
      for (const sender of senders.values()) (await sender).abort()
    },
  }

  function senderOf(origin: string, mode: Mode): Promise<RequestSender> {
    const name = `${mode} ${origin}`
    let sender = senders.get(name)
    if (!sender) {
      sender = openRequestSender({
        url: origin,
        mode,
        rules: targetRules(config),
        resolve: resolveName,
        timeoutMs: REQUEST_TIMEOUT_MS,
        maxConnections: MAX_IN_FLIGHT_PER_CONNECTION,
      })
      closeOldestSender()
      senders.set(name, sender)
    }
    return sender
  }

  /** Customers of an ATS may have host names of their own. */
  function closeOldestSender() {
    if (senders.size < MAX_SENDERS) return
    const [name, sender] = senders.entries().next().value!
    senders.delete(name)
    void sender.then(({ close }) => close())
  }
}

/** Returns the result of a call that was not made. */
export function unsent(error: string): SendResult {
  return { statusCode: null, error, responseText: '', retryAfter: undefined, latencyMs: 0 }
}

/**
 * Returns what a call to the ATS needs, or why it cannot be made at the moment. `keyId` is the key that is sent if the ATS expects its ATS
 * key.
 */
export async function openCall(
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  { connection_id, adapter: name, api_url }: Pick<AtsConnection, 'connection_id' | 'adapter' | 'api_url'>,
  keyId: string,
): Promise<(CallContext & { linkKey: string }) | string> {
  const adapter = adapters[name]
  const { linkKey, token, account_id } = await openCredentials(db.queries, vault, connection_id)
  const credential = expectsKey(adapter) ? await findStoredAtsKey(db.queries, vault, connection_id, keyId) : token
  if (credential === undefined) {
    const label = adapter.credentials.find((each) => each.name === 'token')?.label
    return `not sent: the connection has no active ${label ?? 'key'}`
  }
  return { linkKey, apiUrl: api_url ?? adapter.apiUrl?.default ?? '', credential, accountId: account_id ?? '' }
}
