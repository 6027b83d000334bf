import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** In the words of a refusal. Documentation ranges are not among them: nothing answers there. */
const kinds: Record<string, string[]> = {
  'a metadata service': ['169.254.169.254/32', '168.63.129.16/32', '100.100.100.200/32', 'fd00:ec2::254/128'],
  'a loopback address': ['127.0.0.0/8', '::1/128'],
  'a private address': ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  'a link-local address': ['169.254.0.0/16', 'fe80::/10'],
  'an address inside a carrier’s network': ['100.64.0.0/10'],
  'a multicast or broadcast address': ['224.0.0.0/4', '255.255.255.255/32', 'ff00::/8'],
  'no address of a host': ['0.0.0.0/8', '::/128'],
  'a reserved address': [
    '192.0.0.0/24',
    '192.88.99.0/24',
    '198.18.0.0/15',
    '240.0.0.0/4',
    // NAT64 with a prefix of the network's own: what lies behind it only that network knows.
    '64:ff9b:1::/48',
    '100::/64',
    // Teredo: two IPv4 addresses in one, and nobody runs it any more.
    '2001::/32',
    '2001:2::/48',
    '2001:10::/28',
    '2001:20::/28',
    '5f00::/16',
  ],
}

const table = Object.entries(kinds).flatMap(([kind, ranges]) => ranges.map((range) => ({ kind, range: read(range)! })))
const globalUnicast = read('2000::/3')!

type Range = [Address, number]

/** A range or a single address; undefined for anything else. */
function read(text: string): Range | undefined {
  if (isIP(text)) return [ipaddr.parse(text), isIP(text) === 4 ? 32 : 128]
  return text.includes('/') && ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined
}

function isIn(address: Address, [network, bits]: Range): boolean {
  return address.kind() === network.kind() && (address as ipaddr.IPv4).match(network as ipaddr.IPv4, bits)
}

/** Undefined for an address of the public internet, also one that is wrapped into an IPv6 address of some kind. */
export function kindOfAddress(text: string): string | undefined {
  const bare = withoutZone(text)
  if (!isIP(bare)) return 'no address of a host'
  const address = ipaddr.parse(bare)
  const wrapped = address.kind() === 'ipv6' ? wrappedIn(address as ipaddr.IPv6) : []
  const own = table.find(({ range }) => isIn(address, range))?.kind
  if (own) return own
  if (wrapped.length > 0) return wrapped.map((each) => kindOfAddress(each.toString())).find(Boolean)
  return address.kind() === 'ipv6' && !isIn(address, globalUnicast) ? 'a reserved address' : undefined
}

/** Whether one of the ranges holds the address, or what is wrapped into it. */
export function isWithin(text: string, ranges: string[]): boolean {
  const bare = withoutZone(text)
  if (!isIP(bare)) return false
  const address = ipaddr.parse(bare)
  const all = [address, ...(address.kind() === 'ipv6' ? wrappedIn(address as ipaddr.IPv6) : [])]
  return ranges.some((entry) => {
    const range = read(entry)
    return range !== undefined && all.some((each) => isIn(each, range))
  })
}

function withoutZone(text: string) {
  return text.replace(/%.*$/, '')
}

// Which bytes of an IPv6 address hold an IPv4 address that packets may end up at.
const wrappings: { range: Range; at: number }[] = [
  { range: read('::ffff:0:0/96')!, at: 12 }, // mapped
  { range: read('::ffff:0:0:0/96')!, at: 12 }, // translated
  { range: read('::/96')!, at: 12 }, // compatible
  { range: read('64:ff9b::/96')!, at: 12 }, // NAT64
  { range: read('2002::/16')!, at: 2 }, // 6to4
]

function wrappedIn(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const bytes = address.toByteArray()
  return wrappings.filter(({ range }) => isIn(address, range)).map(({ at }) => new ipaddr.IPv4(bytes.slice(at, at + 4)))
}
