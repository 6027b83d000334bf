import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** What callers are limited by: the address, or the /64 of an IPv6 address, since a household has all of that. */
export function callerAddress(ip: string): string {
  if (!isIPv6(ip)) return ip
  const address = ipaddr.IPv6.parse(ip)
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString()
  const network = address.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}
