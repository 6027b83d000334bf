import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ConfigError, type Environment, isAnyAddress, isLocalOnly, localUrl, readConfig } from './config.ts'

const MASTER_KEY = Buffer.alloc(32, 1).toString('base64')

function errorLinesFor(env: Environment): string[] {
  try {
    readConfig(env)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.lines
  }
  return []
}

test('without environment variables, the defaults run a local server', () => {
  // The last two depend on whether there is a terminal. JSON leaves out what is undefined.
  const { dataDir, drainSeconds: _, logLevel: __, ...config } = readConfig({})
  assert.match(dataDir, /\.attestry$/)
  assert.deepEqual(JSON.parse(JSON.stringify(config)), {
    host: '127.0.0.1',
    port: 8080,
    databasePoolSize: 20,
    operatorEmail: 'operator@localhost',
    mailFrom: 'Attestry <no-reply@localhost>',
    testMailAllow: [],
    mailLimits: { perOrganisation: 1000, perRecipient: 20 },
    rejectReplays: false,
    requireHttps: false,
    trustProxy: [],
    webhookAllow: [],
    indexOnDemand: false,
    shedLoad: true,
    allowedHosts: [],
    metrics: {},
    securityContacts: [],
    backup: {},
    roles: ['api', 'worker'],
  })
})

test('HTTPS is required unless the server listens on loopback only or REQUIRE_HTTPS overrides it', () => {
  assert.equal(readConfig({ HOST: '0.0.0.0' }).requireHttps, true)
  assert.equal(readConfig({ HOST: '::' }).requireHttps, true)
  for (const HOST of ['127.0.0.1', '127.8.8.8', '::1', 'localhost'])
    assert.equal(readConfig({ HOST }).requireHttps, false, HOST)
  assert.equal(readConfig({ HOST: '0.0.0.0', REQUIRE_HTTPS: 'false' }).requireHttps, false)
  assert.equal(readConfig({ REQUIRE_HTTPS: 'true' }).requireHttps, true)
})

test('a URL can name several hosts before the database, but not a database that accepts no writes', () => {
  const secrets = { ADMIN_API_KEY: 'admin-key-1', MASTER_KEY }
  for (const DATABASE_URL of [
    'postgres://a,b/attestry',
    'postgres://user:secret@a:5432,b:5433/attestry?target_session_attrs=read-write',
    'postgres://user:secret@[::1]:5432,10.0.0.2/attestry',
  ])
    assert.equal(readConfig({ DATABASE_URL, ...secrets }).databaseUrl, DATABASE_URL)
  for (const DATABASE_URL of ['postgres:///attestry?host=a,b', 'postgres://a/attestry,postgres://b/attestry'])
    assert.deepEqual(errorLinesFor({ DATABASE_URL, ...secrets }), [
      'DATABASE_URL (value not shown) is not valid: write several hosts before the database, such as postgres://user:password@a:5432,b:5432/database',
    ])
  for (const DATABASE_URL of ['postgres://a,/attestry', 'postgres://a:port,b/attestry', 'mysql://a,b/attestry'])
    assert.match(
      errorLinesFor({ DATABASE_URL, ...secrets })[0]!,
      /^DATABASE_URL \(value not shown\) is not valid: expected/,
    )
  const url = 'postgres://user:pass,word@a/attestry?target_session_attrs='
  assert.equal(readConfig({ DATABASE_URL: `${url}read-write`, ...secrets }).databaseUrl, `${url}read-write`)
  for (const standbyUrl of [`${url}standby`, 'postgres://a,b/attestry?target_session_attrs=standby'])
    assert.match(errorLinesFor({ DATABASE_URL: standbyUrl, ...secrets })[0]!, /target_session_attrs=standby, but/)
  for (const name of ['DATABASE_OWNER_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL'])
    assert.deepEqual(errorLinesFor({ [name]: 'postgres://a/attestry' }), [
      `${name} is set without DATABASE_URL: set DATABASE_URL too, or remove ${name}`,
    ])
  const replicaUrl = 'postgres://replica/attestry?target_session_attrs=standby'
  assert.equal(
    readConfig({ DATABASE_URL: 'postgres://a/attestry', DATABASE_REPLICA_URL: replicaUrl, ...secrets })
      .databaseReplicaUrl,
    replicaUrl,
  )
  for (const [url, message] of [
    ['postgres://b,c/attestry', /a URL with one host/],
    ['postgres://a/attestry', /is the same as DATABASE_URL/],
  ] as const)
    assert.match(
      errorLinesFor({ DATABASE_URL: 'postgres://a/attestry', DATABASE_REPLICA_URL: url, ...secrets })[0]!,
      message,
    )
})

test('an invalid value is reported in one line with the variable, the value and the expected format', () => {
  assert.deepEqual(errorLinesFor({ PORT: 'eighty' }), [
    'PORT="eighty" is not valid: expected a whole number from 0 to 65535',
  ])
  for (const env of [
    { PORT: '65536' },
    { PORT: '-1' },
    { HOST: 'not a host' },
    { PUBLIC_URL: 'verify.example.com' },
    { PUBLIC_URL: 'ftp://example.com' },
    { REQUIRE_HTTPS: 'maybe' },
    { TRUST_PROXY: '10.0.0.0/33' },
    { TRUST_PROXY: 'loopback' },
    { TRUST_PROXY: '10.1/16' },
    { WEBHOOK_ALLOW: '10.0.0.0/33' },
    // Short, octal and hexadecimal forms, which libraries read as different addresses.
    { WEBHOOK_ALLOW: '10.1/16' },
    { WEBHOOK_ALLOW: '10/8' },
    { WEBHOOK_ALLOW: '012.0.0.0/8' },
    { WEBHOOK_ALLOW: '0x0a000000/8' },
    { WEBHOOK_ALLOW: '167772160/8' },
    { WEBHOOK_ALLOW: 'https://hooks.internal' },
    { ROLES: 'api,scheduler' },
    { MAIL_FROM: 'not-an-address' },
    { LOG_LEVEL: 'loud' },
    { SECURITY_CONTACT: 'security' },
    { SECURITY_CONTACT: 'http://example.com/report' },
    { SECURITY_CONTACT: 'javascript:alert(1)' },
    { SECURITY_CONTACT: 'security@example.com,' },
    { SECURITY_CONTACT: 'security@example.com\nPolicy: https://evil.example' },
  ]) {
    const [[name, value]] = Object.entries(env) as [[string, string]]
    const lines = errorLinesFor(env)
    assert.equal(lines.length, 1, name)
    assert.ok(lines[0]!.startsWith(`${name}=${JSON.stringify(value)} is not valid: expected `), lines[0])
  }
})

test('numbers are accepted up to both of their limits, and rejected beyond them', () => {
  const limits: Record<string, [min: number, max: number]> = {
    PORT: [0, 65_535],
    DATABASE_POOL_SIZE: [5, 500],
    MAIL_RECIPIENT_DAILY_CAP: [1, 100_000_000],
    MAIL_ORG_DAILY_CAP: [1, 100_000_000],
    METRICS_PORT: [1, 65_535],
    KEY_MAX_DAYS: [1, 3650],
    DRAIN_SECONDS: [0, 300],
    BACKUP_KEEP_COUNT: [1, 10_000],
    BACKUP_KEEP_DAYS: [1, 3650],
    OTEL_METRIC_EXPORT_INTERVAL: [1000, 3_600_000],
  }
  for (const [name, [min, max]] of Object.entries(limits)) {
    const errorFor = (value: number) =>
      errorLinesFor({ [name]: String(value) }).find((line) => line.startsWith(`${name}=`))
    for (const value of [min - 1, max + 1]) assert.match(errorFor(value)!, new RegExp(` from ${min} to ${max}$`))
    for (const value of [min, max]) assert.equal(errorFor(value), undefined)
  }
})

test('the value of a secret is never shown', () => {
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'ADMIN_API_KEY', 'MASTER_KEY', 'SMTP_URL']) {
    const lines = errorLinesFor({ ADMIN_API_KEY: 'long-enough-admin-key', MASTER_KEY, [name]: 'hun ter2' })
    assert.equal(lines.length, 1, lines.join('\n'))
    assert.ok(lines[0]!.startsWith(`${name} (value not shown) is not valid`))
    assert.ok(!lines[0]!.includes('hun ter2'))
  }
})

test('an invalid URL is shown without its credentials', () => {
  for (const name of ['PUBLIC_URL', 'AI_BASE_URL']) {
    for (const [url, shownUrl] of [
      ['https://user:hunter2@example.com/v1', 'https://***@example.com/v1'],
      ['https://:hunter2@example.com', 'https://***@example.com'],
      ['ftp://user:hun/ter2?#@example.com', 'ftp://***@example.com'],
      ['https:user:hunter2@example.com', '***@example.com'],
      ['user:hunter2@example.com', '***@example.com'],
      ['https://example.com/v1?key=hunter2', 'https://example.com/v1?***'],
      ['https://example.com/#hunter2', 'https://example.com/#***'],
    ] as const) {
      const lines = errorLinesFor({ AI_MODEL: 'm', AI_BASE_URL: 'https://ai.example.com/v1', [name]: url })
      assert.equal(lines.length, 1, url)
      assert.ok(lines[0]!.startsWith(`${name}="${shownUrl}" is not valid: expected an http or https URL`), lines[0])
    }
  }
})

test('all invalid values are reported together', () => {
  const lines = errorLinesFor({ PORT: 'x', ROLES: 'y', MASTER_KEY: 'z', AI_MODEL: 'm' })
  assert.deepEqual(
    lines.map((line) => line.split(/[= ]/)[0]),
    ['PORT', 'MASTER_KEY', 'AI_MODEL', 'ROLES'],
  )
})

test('an external database requires the keys that are otherwise generated', () => {
  assert.deepEqual(errorLinesFor({ DATABASE_URL: 'postgres://u:p@localhost/db' }), [
    'ADMIN_API_KEY is not set: it is required with DATABASE_URL',
    'MASTER_KEY is not set: it is required with DATABASE_URL',
  ])
  assert.deepEqual(
    errorLinesFor({ DATABASE_URL: 'postgres://u:p@localhost/db', ADMIN_API_KEY: 'long-enough-admin-key', MASTER_KEY }),
    [],
  )
})

test('an AI endpoint and a model require each other', () => {
  assert.deepEqual(errorLinesFor({ AI_BASE_URL: 'https://ai.example.com/v1' }), [
    'AI_MODEL is not set: it is required with AI_BASE_URL',
  ])
  assert.deepEqual(errorLinesFor({ AI_API_KEY: 'k' }), [
    'AI_API_KEY is set without AI_BASE_URL: set AI_BASE_URL too, or remove AI_API_KEY',
  ])
  assert.deepEqual(readConfig({ AI_BASE_URL: 'https://ai.example.com/v1/', AI_MODEL: 'm' }).ai, {
    baseUrl: 'https://ai.example.com/v1',
    apiKey: undefined,
    model: 'm',
  })
  const checkedAi = readConfig({ AI_BASE_URL: 'https://ai.example.com/v1', AI_MODEL: 'm', AI_BLIND_CHECK: 'true' }).ai
  assert.equal(checkedAi?.blindCheck, true)
  assert.equal(errorLinesFor({ AI_BLIND_CHECK: 'true' }).length, 1)
})

test('the master key is 32 bytes in base64', () => {
  assert.equal(readConfig({ MASTER_KEY }).masterKey!.length, 32)
  for (const key of [Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64'), `${MASTER_KEY}!`])
    assert.equal(errorLinesFor({ MASTER_KEY: key }).length, 1)
})

test('lists of values are separated by commas', () => {
  assert.deepEqual(readConfig({ TRUST_PROXY: '10.0.0.1, 192.168.0.0/16, ::1' }).trustProxy, [
    '10.0.0.1',
    '192.168.0.0/16',
    '::1',
  ])
  assert.deepEqual(readConfig({}).webhookAllow, [])
  assert.deepEqual(readConfig({ WEBHOOK_ALLOW: 'hooks.internal, 10.0.0.0/8,fd00::/8,192.168.0.7' }).webhookAllow, [
    'hooks.internal',
    '10.0.0.0/8',
    'fd00::/8',
    '192.168.0.7',
  ])
  assert.deepEqual(
    readConfig({ SECURITY_CONTACT: 'security@example.com, https://example.com/report,tel:+91-11-5550100' })
      .securityContacts,
    ['mailto:security@example.com', 'https://example.com/report', 'tel:+91-11-5550100'],
  )
  assert.deepEqual(readConfig({ ROLES: 'worker' }).roles, ['worker'])
  assert.deepEqual(readConfig({ ROLES: ' api , worker ,api' }).roles, ['api', 'worker'])
})

test('a server is local-only while it listens on loopback and has no public https URL', () => {
  const localOnly = (env: Record<string, string>) => isLocalOnly(readConfig(env))
  assert.equal(localOnly({}), true)
  assert.equal(localOnly({ PUBLIC_URL: 'http://localhost:9000' }), true)
  assert.equal(localOnly({ PUBLIC_URL: 'https://127.0.0.1:9000' }), true)
  assert.equal(localOnly({ PUBLIC_URL: 'http://[::1]:9000' }), true)
  assert.equal(localOnly({ PUBLIC_URL: 'https://verify.example.com' }), false)
  assert.equal(localOnly({ PUBLIC_URL: 'http://verify.example.com' }), false, 'a proxy without TLS')
  assert.equal(localOnly({ PUBLIC_URL: 'http://192.168.1.20:8080' }), false)
  assert.equal(localOnly({ TRUST_PROXY: '127.0.0.1' }), false, 'a proxy without PUBLIC_URL')
  assert.equal(localOnly({ HOST: '0.0.0.0' }), false)
})

function createSecretFile(t: TestContext, text: string, mode = 0o600): string {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-secret-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'secret')
  writeFileSync(path, text, { mode })
  return path
}

test('secrets can be set as files', (t) => {
  const url = 'postgres://user:password@host/database'
  const masterKeyFile = createSecretFile(t, `${MASTER_KEY}\r\n`, 0o440)
  const config = readConfig({
    DATABASE_URL_FILE: createSecretFile(t, `${url}\n`),
    ADMIN_API_KEY_FILE: createSecretFile(t, 'long-enough-key'),
    MASTER_KEY_FILE: masterKeyFile,
    SMTP_URL_FILE: createSecretFile(t, 'smtp://user:password@host:587', 0o400),
  })
  assert.deepEqual(
    [config.databaseUrl, config.adminKey, config.masterKey?.toString('base64'), config.smtpUrl],
    [url, 'long-enough-key', MASTER_KEY, 'smtp://user:password@host:587'],
  )
  assert.equal(config.masterKeyFile, masterKeyFile, 'running servers read the file again after a rotation')
  assert.equal(readConfig({ MASTER_KEY_FILE: '' }).masterKeyFile, undefined)
})

test('a secret file that other users can read or change, or that has no valid secret, is rejected', (t) => {
  const lineFor = (path: string, extra: Environment = {}) => {
    const lines = errorLinesFor({ MASTER_KEY_FILE: path, ...extra })
    assert.equal(lines.length, 1, lines.join('\n'))
    return lines[0]!.replaceAll(path, 'PATH')
  }
  const cases: [path: string, line: string][] = [
    [createSecretFile(t, MASTER_KEY, 0o644), 'MASTER_KEY_FILE="PATH" can be read by other users; run: chmod 600 PATH'],
    [createSecretFile(t, MASTER_KEY, 0o604), 'MASTER_KEY_FILE="PATH" can be read by other users; run: chmod 600 PATH'],
    [createSecretFile(t, ''), 'MASTER_KEY_FILE="PATH" is empty'],
    ['/nowhere/at/all', 'MASTER_KEY_FILE="PATH" does not exist'],
    [tmpdir(), 'MASTER_KEY_FILE="PATH" is not a regular file'],
    [createSecretFile(t, 'x'.repeat(70_000)), 'MASTER_KEY_FILE="PATH" is larger than 64 KB'],
  ]
  for (const [path, line] of cases) assert.equal(lineFor(path), line)
  const writable = createSecretFile(t, MASTER_KEY)
  chmodSync(writable, 0o620)
  assert.match(lineFor(writable), /can be changed by other users; run: chmod 600 PATH$/)
  const valid = createSecretFile(t, MASTER_KEY)
  assert.match(
    lineFor(createSecretFile(t, 'hunter2')),
    /^MASTER_KEY_FILE \(value not shown\) is not valid: expected 32 bytes/,
  )
  assert.equal(lineFor(valid, { MASTER_KEY }), 'MASTER_KEY and MASTER_KEY_FILE are both set: remove one of them')
  assert.deepEqual(errorLinesFor({ DATABASE_URL_FILE: createSecretFile(t, 'postgres://host/database') }).length, 2)
})

test('a secret that contains the placeholder of the documentation is rejected', (t) => {
  const line = (name: string) => `${name} (value not shown) contains the placeholder …: replace it with your own value`
  const required = { ADMIN_API_KEY: 'long-enough-key', MASTER_KEY }
  const url = 'postgres://attestry_server:…@db.internal:5432/attestry'
  assert.deepEqual(errorLinesFor({ ...required, DATABASE_URL: url }), [line('DATABASE_URL')])
  const file = createSecretFile(t, url)
  assert.deepEqual(errorLinesFor({ ...required, DATABASE_URL_FILE: file }), [line('DATABASE_URL_FILE')])
  assert.deepEqual(errorLinesFor({ MAIL_HOOK_TOKEN: '…' }), [line('MAIL_HOOK_TOKEN')])
  const ai = { AI_BASE_URL: 'https://api.example.com/v1', AI_MODEL: 'large' }
  assert.deepEqual(errorLinesFor({ ...ai, AI_API_KEY: '…' }), [line('AI_API_KEY')])
  const s3 = { BACKUP_TO: 's3://bucket/folder', BACKUP_S3_ACCESS_KEY_ID: 'AKIA' }
  assert.deepEqual(errorLinesFor({ ...s3, BACKUP_S3_SECRET_ACCESS_KEY: '…' }), [line('BACKUP_S3_SECRET_ACCESS_KEY')])
})

test('a server that listens on all interfaces is reached as localhost', () => {
  for (const host of ['0.0.0.0', '::', '::0']) {
    assert.equal(localUrl(host, 8080), 'http://localhost:8080', host)
    assert.equal(isAnyAddress(host), true, host)
  }
  assert.equal(localUrl('192.0.2.7', 8080), 'http://192.0.2.7:8080')
  assert.equal(localUrl('2001:db8::7', 8080), 'http://[2001:db8::7]:8080')
  assert.equal(isAnyAddress('hiring.internal'), false)
})
