import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** What callers are limited by: the address, or the /64 of an IPv6 address, since a household has all of that. */
export function callerAddress(ip: string): string {
  if (isIPv4(ip)) return ip
  const address = bareAddress(ip)
  if (!isIPv6(address)) return isIPv4(address) ? address : NOBODY
  const parsed = ipaddr.IPv6.parse(address)
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString()
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])}/64`
}

/** All that a proxy sent instead of an address counts as one caller: made-up ones would each get limits of their own. */
const NOBODY = 'unknown'

/** Without the zone of a link-local address, and without the port that some proxies append. */
function bareAddress(ip: string): string {
  const bare = ip.replace(/%.*$/, '').trim()
  return /^\[(.+)\](?::\d+)?$/.exec(bare)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(bare)?.[1] ?? bare
}
