import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export const MAX_ALLOWED_RANGES = 50

/** An address range of a key's allow-list. */
export interface AddressRange {
  network: ipaddr.IPv4 | ipaddr.IPv6
  prefixLength: number
}

/**
 * Parses an IP address or a CIDR range strictly, and returns it in canonical form. Returns an error text if the range has bits after its
 * prefix, which is usually a mistyped prefix, or if it contains every address.
 */
export function parseAllowedRange(text: string): { range: string } | { error: string } {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (
    version === 0 ||
    address.includes('%') ||
    rest.length > 0 ||
    (prefix !== undefined && !/^(0|[1-9]\d?\d?)$/.test(prefix))
  )
    return { error: `expected an IP address or a CIDR range such as 203.0.113.0/24; got ${JSON.stringify(text)}` }
  const parsed = ipaddr.parse(address)
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress())
    return { error: `write ${JSON.stringify(text)} as an IPv4 address, such as ${parsed.toIPv4Address()}` }
  const maxLength = version === 4 ? 32 : 128
  const prefixLength = prefix === undefined ? maxLength : Number(prefix)
  if (prefixLength > maxLength)
    return { error: `the prefix length of ${JSON.stringify(text)} must be at most ${maxLength}` }
  if (prefixLength === 0) return { error: `${text} contains every address; remove the allow-list instead` }
  const network =
    version === 4
      ? ipaddr.IPv4.networkAddressFromCIDR(`${parsed}/${prefixLength}`)
      : ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${prefixLength}`)
  if (network.toString() !== parsed.toString())
    return { error: `${text} has bits after its prefix; did you mean ${network}/${prefixLength} or ${parsed}?` }
  return { range: `${parsed}/${prefixLength}` }
}

/** Converts stored ranges, which `parseAllowedRange` returned. */
export function toAddressRanges(ranges: readonly string[]): AddressRange[] {
  return ranges.map((range) => {
    const [network, prefixLength] = ipaddr.parseCIDR(range)
    return { network, prefixLength }
  })
}

/** Returns whether an address is in one of the ranges. An IPv4 address that is mapped to IPv6 counts as IPv4. */
export function isAddressAllowed(ip: string, ranges: readonly AddressRange[]): boolean {
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  return ranges.some(
    ({ network, prefixLength }) => network.kind() === address.kind() && address.match(network as never, prefixLength),
  )
}

/** Returns the message for a call from another address. It names the address, so that a wrong TRUST_PROXY is noticed. */
export function addressNotAllowedMessage(ip: string): string {
  return `This key cannot be used from the address ${ip}. Call from an allowed address, or change the key's allow-list in the console or with \`attestry key allow\`. If ${ip} is the address of your proxy, the operator must set TRUST_PROXY.`
}
