import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Mode } from '../access/keys.ts'
import { isWithin, kindOfAddress } from './private-addresses.ts'

/** Finds every address of a host name; rejects where there is none. */
export type Resolve = (host: string) => Promise<{ address: string; family: number }[]>

/**
 * Asks name servers directly: the system's own resolver works in the few threads that everything in the process shares, and
 * some slow name servers would hold up all other names. It is asked for what name servers do not know: hosts files and the like.
 */
export const resolveName: Resolve = async (host) => {
  if (!host.includes('.') || /(^|\.)localhost\.?$/.test(host)) return lookup(host, { all: true })
  const [four, six] = await Promise.allSettled([names.resolve4(host), names.resolve6(host)])
  const found = [
    ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 })),
    ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 })),
  ]
  if (found.length > 0) return found
  const reason = (four as PromiseRejectedResult).reason as { code?: string }
  if (UNKNOWN.has(reason.code ?? '')) return lookup(host, { all: true })
  throw reason
}

const names = new Resolver({ timeout: 1500, tries: 2 })
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])

/** What this server may connect to on behalf of its users. */
export interface TargetRules {
  /** Host names, addresses and CIDR ranges that the operator allows whatever they are. */
  allow: string[]
  /** The server listens on loopback alone, so whoever uses it sits on the same machine. */
  onLoopback: boolean
}

/** Milliseconds that saving an endpoint waits for its name to be resolved. */
const LONGEST_RESOLUTION = 3000

/** Says what is wrong with the URL of an endpoint, the addresses of its host included; undefined if nothing is. */
export async function refuseUrl(
  text: string,
  mode: Mode,
  rules: TargetRules,
  resolve: Resolve = resolveName,
): Promise<string | undefined> {
  const url = URL.parse(text)
  const fault = refuseForm(text, url, mode)
  if (fault) return fault
  const host = hostOf(url!)
  const named = refuseHost(host, mode, rules)
  if (named || isIP(host)) return named
  // A name that does not resolve now may do so later; each connection looks again.
  for (const { address } of await soon(resolve(host)).catch(() => [])) {
    const refused = refuseAddress(address, host, mode, rules)
    if (refused) return refused
  }
  return undefined
}

function refuseForm(text: string, url: URL | null, mode: Mode): string | undefined {
  // The parser would drop or turn some of these silently, and the endpoint would not be what was asked for.
  if (/[\s\p{Cc}\\]/u.test(text)) return 'must not hold spaces, control characters or backslashes'
  if (!url || !/^https?:\/\/[^/]/i.test(text)) return 'must be an absolute http or https URL'
  if (mode === 'live' && url.protocol !== 'https:') return 'must be https: LIVE events are not sent in the clear'
  if (url.username || url.password || /^[^/]*\/\/[^/?#]*@/.test(text)) return 'must not hold a user name or a password'
  if (text.includes('#')) return 'must not hold a fragment'
  if (url.port === '0') return 'must not use port 0'
  if (otherProtocols.has(Number(url.port))) return `must not use port ${url.port}, which belongs to another protocol`
  return undefined
}

/** Without brackets and the final dot; the URL parser has turned every notation of IPv4 into four decimals. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

const metadataNames = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
])

/** What can be said of a host before its name is resolved. */
export function refuseHost(host: string, mode: Mode, rules: TargetRules): string | undefined {
  if (isIP(host)) return refuseAddress(host, host, mode, rules)
  if (isAllowedName(host, rules)) return undefined
  if (metadataNames.has(host)) return 'must not be a metadata service'
  if (/(^|\.)localhost$/.test(host) && !mayUseLoopback(mode, rules)) return 'must not be this machine'
  return undefined
}

/** Says why this server does not connect to the address that the host has; undefined if it may. */
export function refuseAddress(address: string, host: string, mode: Mode, rules: TargetRules): string | undefined {
  if (isAllowedName(host, rules) || isWithin(address, rules.allow)) return undefined
  const kind = kindOfAddress(address)
  if (kind === undefined || (kind === 'a loopback address' && mayUseLoopback(mode, rules))) return undefined
  return host === address ? `must not be ${kind}` : `must not lead to ${kind}`
}

function mayUseLoopback(mode: Mode, { onLoopback }: TargetRules) {
  return mode === 'test' && onLoopback
}

function isAllowedName(host: string, { allow }: TargetRules) {
  return !isIP(host) && allow.some((entry) => entry.toLowerCase().replace(/\.$/, '') === host)
}

function soon<T>(promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('took too long')), LONGEST_RESOLUTION)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

// A signed POST must not be made to speak to mail servers, shells, databases and the like.
const otherProtocols = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 445, 465, 512, 513, 514, 515, 526, 530, 531,
  532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 2375, 2379, 3306,
  3389, 3659, 4045, 4190, 5060, 5061, 5432, 5672, 5900, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  9042, 9092, 10080, 11211, 27017,
])
