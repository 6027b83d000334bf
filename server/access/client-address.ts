import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Returns the address used for rate limits: an IPv4 address, or the /64 network of an IPv6 address, which is assigned to one customer. */
export function callerAddress(ip: string): string {
  if (isIPv4(ip)) return ip
  const address = stripZoneAndPort(ip)
  if (!isIPv6(address)) return isIPv4(address) ? address : UNKNOWN_ADDRESS
  const parsed = ipaddr.IPv6.parse(address)
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString()
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])}/64`
}

/** Shared by all callers with an invalid address; otherwise each forged address would get separate limits. */
const UNKNOWN_ADDRESS = 'unknown'

/** Strips the zone of a link-local address and the port that some proxies append. */
function stripZoneAndPort(ip: string): string {
  const withoutZone = ip.replace(/%.*$/, '').trim()
  return (
    /^\[(.+)\](?::\d+)?$/.exec(withoutZone)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(withoutZone)?.[1] ?? withoutZone
  )
}
