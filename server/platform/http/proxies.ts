import { BlockList, isIP } from 'node:net'

/** Addresses whose answer is kept: the proxies before a server are few, and each sends thousands of requests. */
const KNOWN = 64

/** Tells whether an address is one of the proxies that an operator trusts, given as addresses and CIDR ranges. */
export function trustedProxies(ranges: string[]): (address: string | undefined) => boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [address, prefix] = range.split('/') as [string, string?]
    const type = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, type)
    else list.addSubnet(address, Number(prefix), type)
  }
  const known = new Map<string, boolean>()
  return (address = '') => {
    const before = known.get(address)
    if (before !== undefined) return before
    const family = isIP(address)
    const trusted = family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4')
    if (known.size === KNOWN) known.clear()
    known.set(address, trusted)
    return trusted
  }
}
