import type { LookupFunction } from 'node:net'
import type { buildConnector } from 'undici'
import type { Mode } from '../../access/keys.ts'
import { type Resolve, refuseAddress, refuseHost, type TargetRules } from '../target-rules.ts'

export interface ConnectorOptions {
  mode: Mode
  rules: TargetRules
  resolve: Resolve
  /** Milliseconds. */
  timeout: number
  /** Trusted besides the usual authorities. */
  ca?: string | undefined
}

/** The host is, or leads to, an address that this server does not connect to. */
export class TargetRefused extends Error {
  readonly code = 'TARGET_REFUSED'
}

/**
 * Connects to an address that was checked, and to no other: the name is resolved once, here, every address of it is examined,
 * and the socket gets those very addresses. A name that changes between check and connection changes nothing.
 */
export function createConnector(
  build: typeof buildConnector,
  { mode, rules, resolve, timeout, ca }: ConnectorOptions,
): buildConnector.connector {
  const lookup: LookupFunction = (hostname, { all }, answer) => {
    resolve(hostname).then(
      (addresses) => {
        const host = plain(hostname)
        const refused = addresses.map(({ address }) => refuseAddress(address, host, mode, rules)).find(Boolean)
        const [first] = addresses
        if (refused) answer(new TargetRefused(refused), [])
        else if (!first) answer(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), [])
        else if (all) answer(null, addresses)
        else answer(null, first.address, first.family)
      },
      (error) => answer(error, []),
    )
  }
  const connect = build({
    allowH2: false,
    timeout,
    lookup,
    autoSelectFamily: true,
    ...(ca === undefined ? {} : { ca }),
  } as buildConnector.BuildOptions)
  return (options, callback) => {
    // An address in the URL itself is not looked up.
    const refused = refuseHost(plain(options.hostname), mode, rules)
    if (refused) callback(new TargetRefused(refused), null)
    else connect(options, callback)
  }
}

function plain(hostname: string) {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
}
