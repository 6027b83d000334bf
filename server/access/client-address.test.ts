import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callerAddress } from './client-address.ts'

test('callers are identified by their address, or by the /64 network of an IPv6 address', () => {
  const cases: [string, string][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:5678', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['fe80::1%br-lan', 'fe80::/64'],
    ['fe80::1%eth0.100', 'fe80::/64'],
  ]
  for (const [ip, expected] of cases) assert.equal(callerAddress(ip), expected, ip)
})

test('all invalid addresses count as one caller', () => {
  for (const ip of ['', 'foo', '256.1.1.1', 'evil<script>', 'x'.repeat(10_000)])
    assert.equal(callerAddress(ip), 'unknown', ip.slice(0, 20))
})
