import type { Dispatcher } from 'undici'
import { createConnector } from '../../webhooks/delivery/connector.ts'
import { type ResolveHost, resolveName, type TargetRules, urlError } from '../../webhooks/target-rules.ts'

/** Fetches a text over HTTPS. Throws a FetchError. */
export type FetchDocument = (url: string, maxBytes: number) => Promise<string>

/** A document could not be fetched; the message completes "the document … ". */
export class FetchError extends Error {
  override name = 'FetchError'
}

const TIMEOUT_MS = 5000
const MAX_REDIRECTS = 3
const ACCEPT =
  'application/did+json, application/vc, application/vc+jwt, application/ld+json, application/json;q=0.9, */*;q=0.1'

/** Options of the fetcher; the certificate, the resolver and the time limit are set by tests. */
export interface FetcherOptions {
  rules: TargetRules
  resolve?: ResolveHost
  ca?: string
  timeoutMs?: number
}

/**
 * Creates a function that fetches documents of other issuers. Their addresses come from the submitted credential, so it connects only
 * to addresses that webhooks may use too, over HTTPS, and limits size, time and redirects, which must stay on the same server.
 */
export function createDocumentFetcher({
  rules,
  resolve = resolveName,
  ca,
  timeoutMs = TIMEOUT_MS,
}: FetcherOptions): FetchDocument {
  return async (url, maxBytes) => {
    const { Agent, buildConnector } = await import('undici') // loaded only when a credential of another issuer is checked
    const connect = createConnector(buildConnector, { mode: 'live', rules, resolve, timeoutMs, ca })
    const agent = new Agent({ connect, allowH2: false, connections: 1, pipelining: 1, maxHeaderSize: 16 * 1024 })
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      return await fetchFollowingRedirects(agent, url, maxBytes, signal, (target) => checkUrl(target))
    } catch (error) {
      throw error instanceof FetchError ? error : new FetchError(describeError(error as Error, signal, timeoutMs))
    } finally {
      await agent.destroy()
    }
  }

  async function checkUrl(url: string) {
    const error = await urlError(url, 'live', rules, resolve)
    if (error) throw new FetchError(`has an address that is not allowed: it ${error}`)
  }
}

async function fetchFollowingRedirects(
  agent: Dispatcher,
  firstUrl: string,
  maxBytes: number,
  signal: AbortSignal,
  checkUrl: (url: string) => Promise<void>,
): Promise<string> {
  let url = firstUrl
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    await checkUrl(url)
    const { origin, pathname, search } = new URL(url)
    const headers = { accept: ACCEPT, 'user-agent': 'Attestry credential check' }
    const response = await agent.request({ origin, path: pathname + search, method: 'GET', headers, signal })
    const { statusCode, body } = response
    const location = response.headers.location
    if (statusCode >= 300 && statusCode < 400 && typeof location === 'string' && URL.canParse(location, url)) {
      await body.dump()
      url = new URL(location, url).href
      // An open redirect of the issuer's server would otherwise pass a document of another server off as the issuer's.
      if (new URL(url).origin !== origin)
        throw new FetchError(`could not be fetched: it redirects to another server, ${new URL(url).host}`)
      continue
    }
    if (statusCode !== 200) {
      await body.dump()
      throw new FetchError(`could not be fetched: the server responded with ${statusCode}`)
    }
    return readText(body, maxBytes)
  }
  throw new FetchError(`could not be fetched: it has more than ${MAX_REDIRECTS} redirects`)
}

async function readText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new FetchError(`is larger than ${Math.round(maxBytes / 1024)} KB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function describeError(error: Error & { code?: string }, signal: AbortSignal, timeoutMs: number): string {
  if (signal.aborted) return `could not be fetched within ${timeoutMs / 1000} s`
  if (error.code === 'TARGET_REJECTED') return `has an address that is not allowed: it ${error.message}`
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)/.test(error.code ?? ''))
    return 'could not be fetched: the certificate of the server is not valid'
  return 'could not be fetched: the server is not reachable'
}
