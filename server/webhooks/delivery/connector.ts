import type { LookupFunction } from 'node:net'
import type { buildConnector } from 'undici'
import type { Mode } from '../../access/keys.ts'
import { addressError, hostError, type ResolveHost, type TargetRules } from '../target-rules.ts'

export interface ConnectorOptions {
  mode: Mode
  rules: TargetRules
  resolve: ResolveHost
  timeoutMs: number
  /** PEM certificate to trust in addition to the system's authorities. */
  ca?: string | undefined
}

/** The host is, or resolves to, an address that the target rules do not allow. */
class TargetRejectedError extends Error {
  readonly code = 'TARGET_REJECTED'
}

/**
 * Creates a connector that connects only to addresses that were checked. It resolves the name once, checks all addresses, and
 * passes these to the socket, so that a DNS change between check and connection has no effect (DNS rebinding).
 */
export function createConnector(
  build: typeof buildConnector,
  { mode, rules, resolve, timeoutMs, ca }: ConnectorOptions,
): buildConnector.connector {
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const host = normaliseHost(hostname)
        const error = addresses.map(({ address }) => addressError(address, host, mode, rules)).find(Boolean)
        const [firstAddress] = addresses
        if (error) callback(new TargetRejectedError(error), [])
        else if (!firstAddress) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), [])
        else if (all) callback(null, addresses)
        else callback(null, firstAddress.address, firstAddress.family)
      },
      (error) => callback(error, []),
    )
  }
  const connect = build({
    allowH2: false,
    timeout: timeoutMs,
    lookup,
    autoSelectFamily: true,
    ...(ca === undefined ? {} : { ca }),
  } as buildConnector.BuildOptions)
  return (options, callback) => {
    // An IP address in the URL is not passed to `lookup`.
    const error = hostError(normaliseHost(options.hostname), mode, rules)
    if (error) callback(new TargetRejectedError(error), null)
    else connect(options, callback)
  }
}

function normaliseHost(hostname: string) {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
}
