import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProxyCheck } from './proxies.ts'

test('configured IPv4 and IPv6 addresses and ranges are trusted in every notation', () => {
  const isTrusted = createProxyCheck(['127.0.0.1', '10.1.0.0/16', '::1', '2001:db8::/32'])
  for (const address of [
    '127.0.0.1',
    '::ffff:127.0.0.1',
    '10.1.255.3',
    '::ffff:10.1.0.9',
    '::1',
    '0:0:0:0:0:0:0:1',
    '2001:db8:9::7',
  ])
    assert.equal(isTrusted(address), true, address)
  for (const address of ['127.0.0.2', '10.2.0.1', '::2', '2001:db9::1', '', 'unknown', '10.1.0.1:443', undefined])
    assert.equal(isTrusted(address), false, address)
})

test('the cache does not change the result', () => {
  const isTrusted = createProxyCheck(['10.0.0.0/30'])
  for (let round = 0; round < 3; round++)
    for (let last = 0; last < 200; last++) assert.equal(isTrusted(`10.0.0.${last}`), last < 4, String(last))
})
