import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Address ranges by name, as used in error messages. Documentation ranges are missing: no host responds there. */
const RANGES_BY_KIND: Record<string, string[]> = {
  'a metadata service': ['169.254.169.254/32', '168.63.129.16/32', '100.100.100.200/32', 'fd00:ec2::254/128'],
  'a loopback address': ['127.0.0.0/8', '::1/128'],
  'a private address': ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  'a link-local address': ['169.254.0.0/16', 'fe80::/10'],
  'a carrier-grade NAT address': ['100.64.0.0/10'],
  'a multicast or broadcast address': ['224.0.0.0/4', '255.255.255.255/32', 'ff00::/8'],
  'an unspecified address': ['0.0.0.0/8', '::/128'],
  'a reserved address': [
    '192.0.0.0/24',
    '192.88.99.0/24',
    '198.18.0.0/15',
    '240.0.0.0/4',
    // NAT64 with a local prefix: the embedded IPv4 address may be inside that network.
    '64:ff9b:1::/48',
    '100::/64',
    // Teredo, which is obsolete and embeds two IPv4 addresses.
    '2001::/32',
    '2001:2::/48',
    '2001:10::/28',
    '2001:20::/28',
    '5f00::/16',
  ],
}

const RANGES_WITH_KIND = Object.entries(RANGES_BY_KIND).flatMap(([kind, ranges]) =>
  ranges.map((range) => ({ kind, range: parseRange(range)! })),
)
const GLOBAL_UNICAST = parseRange('2000::/3')!

type Range = [Address, number]

/** Parses a CIDR range or a single address; returns undefined for anything else. */
function parseRange(text: string): Range | undefined {
  if (isIP(text)) return [ipaddr.parse(text), isIP(text) === 4 ? 32 : 128]
  return text.includes('/') && ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined
}

function isInRange(address: Address, [network, bits]: Range): boolean {
  return address.kind() === network.kind() && (address as ipaddr.IPv4).match(network as ipaddr.IPv4, bits)
}

/** Returns the kind of a non-public address, or undefined for a public one. Embedded IPv4 addresses are checked too. */
export function privateAddressKind(text: string): string | undefined {
  const addressText = withoutZone(text)
  if (!isIP(addressText)) return 'an invalid address'
  const address = ipaddr.parse(addressText)
  const embeddedAddresses = address.kind() === 'ipv6' ? embeddedIpv4(address as ipaddr.IPv6) : []
  const ownKind = RANGES_WITH_KIND.find(({ range }) => isInRange(address, range))?.kind
  if (ownKind) return ownKind
  if (embeddedAddresses.length > 0)
    return embeddedAddresses.map((embeddedAddress) => privateAddressKind(embeddedAddress.toString())).find(Boolean)
  return address.kind() === 'ipv6' && !isInRange(address, GLOBAL_UNICAST) ? 'a reserved address' : undefined
}

/** Returns whether one of the ranges contains the address or an IPv4 address embedded in it. */
export function isWithin(text: string, ranges: string[]): boolean {
  const addressText = withoutZone(text)
  if (!isIP(addressText)) return false
  const address = ipaddr.parse(addressText)
  const allAddresses = [address, ...(address.kind() === 'ipv6' ? embeddedIpv4(address as ipaddr.IPv6) : [])]
  return ranges.some((entry) => {
    const range = parseRange(entry)
    return range !== undefined && allAddresses.some((candidate) => isInRange(candidate, range))
  })
}

function withoutZone(text: string) {
  return text.replace(/%.*$/, '')
}

// Offsets of the IPv4 address in IPv6 addresses that may be routed to it.
const EMBEDDED_IPV4_RANGES: { range: Range; offset: number }[] = [
  { range: parseRange('::ffff:0:0/96')!, offset: 12 }, // mapped
  { range: parseRange('::ffff:0:0:0/96')!, offset: 12 }, // translated
  { range: parseRange('::/96')!, offset: 12 }, // compatible
  { range: parseRange('64:ff9b::/96')!, offset: 12 }, // NAT64
  { range: parseRange('2002::/16')!, offset: 2 }, // 6to4
]

function embeddedIpv4(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const bytes = address.toByteArray()
  return EMBEDDED_IPV4_RANGES.filter(({ range }) => isInRange(address, range)).map(
    ({ offset }) => new ipaddr.IPv4(bytes.slice(offset, offset + 4)),
  )
}
