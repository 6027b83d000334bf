import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { test } from 'node:test'
import { privateAddressKind } from './private-addresses.ts'
import { type ResolveHost, resolveName, type TargetRules, urlError } from './target-rules.ts'

const publicServerRules: TargetRules = { allow: [], onLoopback: false }
const localServerRules: TargetRules = { allow: [], onLoopback: true }
const resolveNothing: ResolveHost = async () => {
  throw new Error('no such name')
}
const resolveTo =
  (...addresses: string[]): ResolveHost =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

const privateUrls = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://017700000001/',
  'http://127.0.0.1./',
  'http://0/',
  'http://0.0.0.0/',
  'http://10.1.2.3/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://100.64.0.1/',
  'http://100.127.255.255/',
  'http://169.254.169.254/latest/meta-data',
  'http://0xa9fea9fe/',
  'http://168.63.129.16/',
  'http://192.0.0.1/',
  'http://198.18.0.1/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://240.0.0.1/',
  'http://[::]/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:a00:1]/',
  'http://[::127.0.0.1]/',
  'http://[::ffff:0:10.0.0.1]/',
  'http://[64:ff9b::10.0.0.1]/',
  'http://[64:ff9b:1::8.8.8.8]/',
  'http://[2002:a00:1::]/',
  'http://[2002:7f00:1::1]/',
  'http://[2001:0:a00:1::]/',
  'http://[2001:0:808:808:0:0:f5ff:fffe]/', // Teredo, client 10.0.0.1
  'http://[fe80::1]/',
  'http://[fc00::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
  'http://[100::1]/',
  'http://[4000::1]/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://a.b.localhost/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://metadata.google.internal./',
  'http://①②⑦.⓪.⓪.①/', // the URL parser converts these digits to ASCII
]

test('private addresses are rejected in every notation', async () => {
  for (const url of privateUrls) assert.ok(await urlError(url, 'test', publicServerRules, resolveNothing), url)
})

test('public addresses, names, and names that do not resolve are accepted', async () => {
  for (const url of [
    'https://8.8.8.8/hook',
    'https://hooks.example.com:8443/a?b=c',
    'https://[2606:4700::1111]/',
    'https://[64:ff9b::8.8.8.8]/',
    'https://[::ffff:8.8.8.8]/',
    'https://[2002:808:808::]/',
    'https://172.32.0.1/',
    'https://100.128.0.1/',
    'https://localhost.example.com/',
    'https://bücher.example/',
  ])
    assert.equal(await urlError(url, 'live', publicServerRules, resolveNothing), undefined, url)
})

test('a name is rejected if one of its addresses is', async () => {
  const error = await urlError(
    'https://hooks.example.com/',
    'live',
    publicServerRules,
    resolveTo('8.8.8.8', '10.0.0.1'),
  )
  assert.equal(error, 'must not resolve to a private address')
  assert.equal(await urlError('https://hooks.example.com/', 'live', publicServerRules, resolveTo('8.8.8.8')), undefined)
})

test('malformed URLs are rejected', async () => {
  for (const [url, message] of [
    ['hooks.example.com', /absolute/],
    ['//hooks.example.com', /absolute/],
    ['ftp://hooks.example.com', /absolute/],
    ['https:hooks.example.com', /absolute/],
    ['https:///hooks.example.com', /absolute/],
    ['javascript:alert(1)', /absolute/],
    ['https://', /absolute/],
    ['https://user@hooks.example.com/', /user name/],
    ['https://user:secret@hooks.example.com/', /user name/],
    ['https://@hooks.example.com/', /user name/],
    ['https://hooks.example.com/#there', /fragment/],
    ['https://hooks.example.com/#', /fragment/],
    [' https://hooks.example.com/', /spaces/],
    ['https://hooks.example\t.com/', /spaces/],
    ['https://hooks.example.com\\@10.0.0.1/', /backslash/],
    ['https://hooks.example.com:22/', /port 22/],
    ['https://hooks.example.com:6379/', /port 6379/],
    ['https://hooks.example.com:99999/', /absolute/],
    ['https://1.2.3.4.5/', /absolute/],
  ] as const) {
    assert.match((await urlError(url, 'test', publicServerRules, resolveNothing)) ?? 'accepted', message, url)
  }
  assert.match((await urlError('http://hooks.example.com/', 'live', publicServerRules, resolveNothing))!, /https/)
  assert.equal(await urlError('http://hooks.example.com/', 'test', publicServerRules, resolveNothing), undefined)
})

test('loopback is allowed in TEST mode if the server listens only on loopback', async () => {
  for (const url of ['http://127.0.0.1:3000/', 'http://[::1]:3000/', 'http://[::ffff:127.0.0.1]/']) {
    assert.equal(await urlError(url, 'test', localServerRules, resolveNothing), undefined, url)
    assert.ok(await urlError(url, 'test', publicServerRules, resolveNothing), url)
    assert.ok(await urlError(url.replace('http:', 'https:'), 'live', localServerRules, resolveNothing), url)
  }
  assert.equal(
    await urlError('http://localhost:3000/', 'test', localServerRules, resolveTo('::1', '127.0.0.1')),
    undefined,
  )
  assert.ok(await urlError('http://localhost:3000/', 'test', localServerRules, resolveTo('10.0.0.1')))
  assert.ok(await urlError('http://10.0.0.1/', 'test', localServerRules, resolveNothing))
})

test('private names, addresses and ranges that the operator allows are accepted', async () => {
  const rules: TargetRules = {
    allow: ['hooks.corp.internal', '10.20.0.0/16', 'fd12::/32', '192.168.7.7'],
    onLoopback: false,
  }
  for (const url of [
    'https://10.20.3.4/',
    'https://[::ffff:10.20.3.4]/',
    'https://[fd12:0:1::1]/',
    'https://192.168.7.7/',
  ])
    assert.equal(await urlError(url, 'live', rules, resolveNothing), undefined, url)
  assert.equal(await urlError('https://hooks.corp.internal/', 'live', rules, resolveTo('10.9.9.9')), undefined)
  assert.equal(await urlError('https://HOOKS.corp.internal./', 'live', rules, resolveTo('10.9.9.9')), undefined)
  for (const url of ['https://10.21.0.1/', 'https://192.168.7.8/', 'https://[fd13::1]/'])
    assert.ok(await urlError(url, 'live', rules, resolveNothing), url)
  assert.ok(await urlError('https://other.corp.internal/', 'live', rules, resolveTo('10.9.9.9')))
})

test('a name that name servers do not have is looked up in the system, and other errors of name servers are not', async (t) => {
  let code = 'ENOTFOUND'
  for (const method of ['resolve4', 'resolve6'] as const)
    t.mock.method(Resolver.prototype, method, () => Promise.reject(Object.assign(new Error(code), { code })))
  // The system resolves this short form of an address without a network.
  assert.deepEqual([...new Set((await resolveName('127.1')).map(({ address }) => address))], ['127.0.0.1'])
  code = 'ESERVFAIL'
  await assert.rejects(resolveName('127.1'), { code })
})

test('text that is not an address is rejected', () => {
  for (const text of ['', 'hello', '1.2.3', '::g', 'fe80::1%eth0']) assert.ok(privateAddressKind(text), text)
})
