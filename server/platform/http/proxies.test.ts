import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trustedProxies } from './proxies.ts'

test('addresses and ranges of both families are trusted, however the socket writes them', () => {
  const trusted = trustedProxies(['127.0.0.1', '10.1.0.0/16', '::1', '2001:db8::/32'])
  for (const address of [
    '127.0.0.1',
    '::ffff:127.0.0.1',
    '10.1.255.3',
    '::ffff:10.1.0.9',
    '::1',
    '0:0:0:0:0:0:0:1',
    '2001:db8:9::7',
  ])
    assert.equal(trusted(address), true, address)
  for (const address of ['127.0.0.2', '10.2.0.1', '::2', '2001:db9::1', '', 'unknown', '10.1.0.1:443', undefined])
    assert.equal(trusted(address), false, address)
})

test('an answer stays the same however often and among however many it is asked', () => {
  const trusted = trustedProxies(['10.0.0.0/30'])
  for (let turn = 0; turn < 3; turn++)
    for (let last = 0; last < 200; last++) assert.equal(trusted(`10.0.0.${last}`), last < 4, String(last))
})
