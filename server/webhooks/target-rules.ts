import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Mode } from '../access/keys.ts'
import { withDeadline } from '../platform/deadline.ts'
import { isWithin, privateAddressKind } from './private-addresses.ts'

/** Returns all addresses of a host name; rejects if there are none. */
export type ResolveHost = (host: string) => Promise<{ address: string; family: number }[]>

/**
 * Queries name servers directly, because the system resolver runs in the few threads of libuv's pool, where a few slow name servers
 * would block all other lookups. Falls back to the system resolver for names that only it finds, such as those in a hosts file.
 */
export const resolveName: ResolveHost = async (host) => {
  if (!host.includes('.') || /(^|\.)localhost\.?$/.test(host)) return lookup(host, { all: true })
  const [ipv4Result, ipv6Result] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = [
    ...(ipv4Result.status === 'fulfilled' ? ipv4Result.value : []).map((address) => ({ address, family: 4 })),
    ...(ipv6Result.status === 'fulfilled' ? ipv6Result.value : []).map((address) => ({ address, family: 6 })),
  ]
  if (addresses.length > 0) return addresses
  const reason = (ipv4Result as PromiseRejectedResult).reason as { code?: string }
  if (NOT_FOUND_CODES.has(reason.code ?? '')) return lookup(host, { all: true })
  throw reason
}

const resolver = new Resolver({ timeout: 1500, tries: 2 })
const NOT_FOUND_CODES = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])

/** Rules for the addresses that this server may connect to on behalf of its users. */
export interface TargetRules {
  /** Host names, addresses and CIDR ranges that the operator allows even if they are private. */
  allow: string[]
  /** The server listens only on loopback, so its users are on the same machine. */
  onLoopback: boolean
}

/** Timeout of the DNS lookup when a webhook is saved. */
const DNS_LOOKUP_TIMEOUT_MS = 3000

/** Returns the error in the URL of a webhook or the addresses of its host, or undefined if they are valid. */
export async function urlError(
  text: string,
  mode: Mode,
  rules: TargetRules,
  resolve: ResolveHost = resolveName,
): Promise<string | undefined> {
  const url = URL.parse(text)
  const formatError = urlFormatError(text, url, mode)
  if (formatError) return formatError
  const host = hostOf(url!)
  const error = hostError(host, mode, rules)
  if (error || isIP(host)) return error
  // A name that does not resolve now may do so later; each connection resolves it again.
  for (const { address } of await withDeadline(resolve(host), DNS_LOOKUP_TIMEOUT_MS).catch(() => [])) {
    const rejection = addressError(address, host, mode, rules)
    if (rejection) return rejection
  }
  return undefined
}

function urlFormatError(text: string, url: URL | null, mode: Mode): string | undefined {
  // The parser would silently drop or replace some of these, and the stored URL would differ from the one sent.
  if (/[\s\p{Cc}\\]/u.test(text)) return 'must not contain spaces, control characters or backslashes'
  if (!url || !/^https?:\/\/[^/]/i.test(text)) return 'must be an absolute http or https URL'
  if (mode === 'live' && url.protocol !== 'https:') return 'must be an https URL: LIVE events are not sent unencrypted'
  if (url.username || url.password || /^[^/]*\/\/[^/?#]*@/.test(text)) return 'must not contain a user name or password'
  if (text.includes('#')) return 'must not contain a fragment (#)'
  if (url.port === '0') return 'must not use port 0'
  if (isPortOfOtherProtocol(url)) return `must not use port ${url.port}, which is reserved for another protocol`
  return undefined
}

/** Returns the host without brackets and final dot. The URL parser has converted all IPv4 notations to dotted decimal. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

const METADATA_NAMES = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
])

/** Returns the error in a host without resolving it, or undefined if it is valid. */
export function hostError(host: string, mode: Mode, rules: TargetRules): string | undefined {
  if (isIP(host)) return addressError(host, host, mode, rules)
  if (isAllowedName(host, rules)) return undefined
  if (METADATA_NAMES.has(host)) return 'must not be a metadata service'
  if (/(^|\.)localhost$/.test(host) && !mayUseLoopback(mode, rules)) return 'must not be localhost'
  return undefined
}

/** Returns the reason why this server must not connect to an address of the host, or undefined if it may. */
export function addressError(address: string, host: string, mode: Mode, rules: TargetRules): string | undefined {
  if (isAllowedName(host, rules) || isWithin(address, rules.allow)) return undefined
  const kind = privateAddressKind(address)
  if (kind === undefined || (kind === 'a loopback address' && mayUseLoopback(mode, rules))) return undefined
  return host === address ? `must not be ${kind}` : `must not resolve to ${kind}`
}

function mayUseLoopback(mode: Mode, { onLoopback }: TargetRules) {
  return mode === 'test' && onLoopback
}

function isAllowedName(host: string, { allow }: TargetRules) {
  return !isIP(host) && allow.some((entry) => entry.toLowerCase().replace(/\.$/, '') === host)
}

/** Returns whether the port of a URL is used by another protocol. Such a port must not receive requests. */
export function isPortOfOtherProtocol({ port }: URL): boolean {
  return OTHER_PROTOCOL_PORTS.has(Number(port))
}

// Ports of mail servers, shells, databases and similar, which must not receive a signed POST.
const OTHER_PROTOCOL_PORTS = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 445, 465, 512, 513, 514, 515, 526, 530, 531,
  532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 2375, 2379, 3306,
  3389, 3659, 4045, 4190, 5060, 5061, 5432, 5672, 5900, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  9042, 9092, 10080, 11211, 27017,
])
