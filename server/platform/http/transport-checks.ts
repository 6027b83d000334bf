import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { apiOfPath, pathOf } from '../../api/envelope.ts'
import { type Problem, problem } from '../../api/problem.ts'

export interface TransportOptions {
  requireHttps: boolean
  /** Base URL of the links that people receive. */
  publicUrl: string | undefined
  /** Further host names under which the server may be called. */
  allowedHosts: string[]
}

/** Monitoring systems call these paths directly, without HTTPS and under any host name. */
const PROBE_PATHS = ['/healthz', '/readyz', '/metrics']

/**
 * Returns a check that every request except probes must pass: HTTPS if it is required, and a known host. Another site could make a
 * name of its own resolve to this server, and its pages would then count as pages of the same origin.
 */
export function createTransportCheck(options: TransportOptions): (request: FastifyRequest) => Problem | undefined {
  // Read now: if the operator has set no URL, the server later sets one that does not restrict the host.
  const { publicUrl } = options
  const knownNames = new Set(['localhost', ...options.allowedHosts.map((name) => name.toLowerCase())])
  if (publicUrl !== undefined) knownNames.add(new URL(publicUrl).hostname)
  // Almost all requests have the same Host header.
  let lastKnownHost: string | undefined

  return (request) => {
    const isUnencrypted = options.requireHttps && request.protocol.toLowerCase() !== 'https'
    const { host } = request.headers
    const hasUnknownHost = host !== lastKnownHost && !isKnownHost(host, knownNames)
    if (!hasUnknownHost) lastKnownHost = host
    if (!isUnencrypted && !hasUnknownHost) return undefined
    const url = request.raw.url ?? '/'
    if (PROBE_PATHS.includes(pathOf(url))) return undefined
    if (isUnencrypted)
      return problem(
        'HTTPS_REQUIRED',
        'This server requires HTTPS. Send the request to its https:// URL. Operators: behind a proxy that terminates TLS, set TRUST_PROXY; to allow HTTP, set REQUIRE_HTTPS=false.',
      )
    const api = apiOfPath(url)
    // Only browsers send cookies and are open to this attack. The APIs are checked if the operator has stated the host.
    return publicUrl !== undefined || api === 'console' || api === 'site' ? unknownHostProblem() : undefined
  }
}

function isKnownHost(header: string | undefined, knownNames: Set<string>): boolean {
  if (header === undefined || header === '') return true // not a browser
  const name = header
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()
  return isIP(name) !== 0 || knownNames.has(name)
}

function unknownHostProblem() {
  const message = 'is not a host name of this server; use the host of PUBLIC_URL, or add the name to ALLOWED_HOSTS'
  return problem('VALIDATION_FAILED', 'The Host header is not a host name of this server.', {
    status: 421,
    details: [{ path: 'headers.Host', message }],
  })
}
