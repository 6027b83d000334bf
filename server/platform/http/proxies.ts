import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { BoundedMap } from '../bounded-map.ts'

/** A small cache is enough: a server has few proxies in front of it, and each sends thousands of requests. */
const MAX_CACHED_ADDRESSES = 64

/** Returns a function that checks whether an address is a trusted proxy. `ranges` has addresses and CIDR ranges. */
export function createProxyCheck(ranges: string[]): (address: string | undefined) => boolean {
  const trustedAddresses = new BlockList()
  for (const range of ranges) {
    const [address, prefix] = range.split('/') as [string, string?]
    const type = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) trustedAddresses.addAddress(address, type)
    else trustedAddresses.addSubnet(address, Number(prefix), type)
  }
  const cache = new BoundedMap<string, boolean>(MAX_CACHED_ADDRESSES)
  return (address = '') => {
    const cachedResult = cache.get(address)
    if (cachedResult !== undefined) return cachedResult
    const family = isIP(address)
    const isTrusted = family !== 0 && trustedAddresses.check(address, family === 6 ? 'ipv6' : 'ipv4')
    cache.set(address, isTrusted)
    return isTrusted
  }
}

/** Returns whether the address of a connection belongs to this machine. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}
