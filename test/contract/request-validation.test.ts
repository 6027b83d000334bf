import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Compile } from 'typebox/compile'
import { readGupshupReports } from '../../server/channels/gupshup/sms.ts'
import { readForm, readJsonOrField } from '../../server/channels/inbound-routes.ts'
import { isSignedByTwilio } from '../../server/channels/twilio/twilio.ts'
import { patchGroup, patchUser, readGroup, readUser } from '../../server/console/scim/resources.ts'
import { parseJson } from '../../server/platform/http/json.ts'
import {
  findSchemaErrors,
  type RequestValueSchema,
  supportedKeywords,
} from '../../server/platform/http/schema-errors.ts'
import { compileRequestValidator } from '../../server/platform/http/validation.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { measureCpuMs } from '../support/cpu-limit.ts'
import { listRequestSchemas, type RoutePart } from './request-schemas.ts'

const MAX_BODY_BYTES = 262_144
const MAX_CPU_MS = 5

const listSchemas = oncePerFile(listRequestSchemas)

/** Routes with a parser of their own; the test that measures it is in this file, unless another one is named. */
const ROUTES_WITH_OWN_PARSER = [
  /^(POST|PUT|PATCH|DELETE) \/scim\/v2\/(Users|Groups)/,
  /^POST \/hooks\/(whatsapp|twilio|exotel|gupshup)\//,
  /^POST \/hooks\/mail\//, // only for the owner of MAIL_HOOK_TOKEN
  /^POST \/credentials\/verify$/, // server/credentials/check/check.test.ts
  /^POST \/wallet\/(token|credential)$/, // up to 16 KB
  /^POST \/console\/api\/orgs\/:org\/:mode\/items\/upload$/, // server/items/exchange/hostile-files.test.ts
  /^POST \/console\/api\/operator\/catalogue\/imports$/, // only for operators
]
/** The guards of these APIs parse every body with `parseJson`. */
const JSON_BASES = /^[A-Z]+ \/(api|ats|console\/api)\//
/** These routes ignore their body, which has at most 16 KB. */
const ROUTES_WITHOUT_INPUT = ['POST /unsubscribe/:token', 'POST /credentials/:credential_id/wallet']

test('the cost of every body is known: it has a schema, its own measured parser, or is ignored', async () => {
  const { parts, withoutBodySchema } = await listSchemas()
  assert.ok(parts.length > 450, `${parts.length} parts`)
  const unknown = withoutBodySchema.filter(
    (route) =>
      !ROUTES_WITH_OWN_PARSER.some((pattern) => pattern.test(route)) &&
      !JSON_BASES.test(route) &&
      !ROUTES_WITHOUT_INPUT.includes(route),
  )
  assert.deepEqual(unknown, [])
  for (const base of ['/api/v1/your-data/', '/console/api/orgs/:org/views', '/console/api/sign-in/', '/ats/ashby/'])
    assert.ok(
      parts.some(({ route, part }) => part === 'body' && route.includes(base)),
      base,
    )
})

/** Calls `visit` for a schema and the schemas inside it. */
function visitSchemas(schema: RequestValueSchema, visit: (schema: RequestValueSchema) => void): void {
  visit(schema)
  const inner = [
    schema.items,
    schema.propertyNames,
    typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined,
    ...Object.values(schema.properties ?? {}),
    ...(schema.anyOf ?? []),
  ]
  for (const innerSchema of inner) if (innerSchema) visitSchemas(innerSchema, visit)
}

test('request schemas use only the keywords that the search for errors supports', async () => {
  for (const { route, part, schema } of (await listSchemas()).parts) {
    visitSchemas(schema as RequestValueSchema, (inner) => {
      for (const keyword of Object.keys(inner))
        assert.ok(supportedKeywords.has(keyword), `${route} ${part} uses ${keyword}`)
      if (inner.items) assert.ok(inner.maxItems !== undefined, `${route}: a list of the ${part} has no maximum length`)
    })
  }
})

/** Generates values that match a schema in most places and violate it in some. */
function valuesFor(schema: RequestValueSchema): fc.Arbitrary<unknown> {
  const wrongValue = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(''), fc.constant(-1), fc.constant([]))
  return fc.oneof({ arbitrary: plausibleValues(schema), weight: 6 }, { arbitrary: wrongValue, weight: 1 })
}

function plausibleValues(schema: RequestValueSchema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valuesFor))
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'object': {
      const properties = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, valuesFor(inner)])
      const known = fc.record(Object.fromEntries(properties), { requiredKeys: [] })
      return fc
        .tuple(known, fc.dictionary(fc.string({ maxLength: 5 }), fc.string(), { maxKeys: 1 }))
        .map(([values, others]) => ({ ...others, ...values }))
    }
    case 'array':
      return fc.array(schema.items ? valuesFor(schema.items) : fc.anything(), { maxLength: (schema.maxItems ?? 3) + 1 })
    case 'string': {
      const text = fc.oneof(
        fc.string({ maxLength: Math.min((schema.maxLength ?? 20) + 2, 300) }),
        fc.string({ unit: 'grapheme', maxLength: Math.min((schema.maxLength ?? 20) + 2, 300) }),
      )
      // fast-check generates no texts for patterns with a lookahead.
      const canGenerate = schema.pattern?.startsWith('^') && !/\(\?[=!<]/.test(schema.pattern)
      return canGenerate ? fc.oneof(text, fc.stringMatching(new RegExp(schema.pattern!, 'u'))) : text
    }
    case 'integer':
    case 'number':
      return fc.oneof(
        fc.integer({ min: Math.floor(schema.minimum ?? 0) - 1, max: Math.ceil(schema.maximum ?? 1000) + 1 }),
        fc.double(),
      )
    case 'boolean':
      return fc.boolean()
    default:
      return fc.jsonValue({ maxDepth: 1 })
  }
}

test('the search for errors finds one exactly if TypeBox rejects the value', async () => {
  for (const { route, part, schema } of distinctSchemas((await listSchemas()).parts)) {
    if (part === 'params') continue
    const validator = Compile(schema)
    fc.assert(
      fc.property(valuesFor(schema as RequestValueSchema), (value) => {
        const errors = findSchemaErrors(schema as RequestValueSchema, value)
        assert.equal(errors.length === 0, validator.Check(value), `${route} ${part}`)
      }),
      { numRuns: 30 },
    )
  }
})

/** Returns one route for each schema: the console has the routes of the partner API again. */
function distinctSchemas(parts: RoutePart[]): RoutePart[] {
  return [...new Map(parts.map((part) => [part.schema, part])).values()]
}

/** Returns values that are expensive to validate: as many items, properties or characters as fit in a body. */
function hostileValues(schema: RequestValueSchema): Map<string, unknown> {
  const values = new Map<string, unknown>([
    [
      'unknown properties',
      Object.fromEntries(Array.from({ length: 1_900 }, (_, index) => [`p${index}`, 'x'.repeat(100)])),
    ],
    ['a long text', 'x'.repeat(MAX_BODY_BYTES - 100)],
    ['a list of objects', Array.from({ length: 9_900 }, () => ({}))],
    ['a list of numbers', Array.from({ length: 19_900 }, (_, index) => index)],
    ['a list of lists', Array.from({ length: 9_900 }, () => [])],
  ])
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    values.set(`${name}: blank text`, { [name]: ' '.repeat(MAX_BODY_BYTES - 100) })
    values.set(`${name}: letters`, { [name]: 'a'.repeat(MAX_BODY_BYTES - 100) })
    values.set(`${name}: astral characters`, { [name]: '𝒳'.repeat(MAX_BODY_BYTES / 4 - 100) })
    if (!property.items && !property.properties && !property.additionalProperties) continue
    const { maxItems = 1000 } = property
    const items: [string, unknown][] = [
      ['empty objects', {}],
      ['objects with unknown properties', { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }],
      ['objects with required properties of the wrong type', objectWithWrongTypes(property.items ?? property)],
      ['short texts', 'a'],
      ['nested lists', [[[[]]]]],
    ]
    for (const [label, item] of items) {
      const size = Buffer.byteLength(JSON.stringify(item)) + 1
      const fitting = Math.min(Math.floor((MAX_BODY_BYTES - 100) / size), Math.floor(19_900 / (countValues(item) + 1)))
      values.set(`${name}: ${label}, as many as fit`, { [name]: Array.from({ length: fitting }, () => item) })
      values.set(`${name}: ${label}, as many as allowed`, {
        [name]: Array.from({ length: Math.min(fitting, maxItems) }, () => item),
      })
      values.set(`${name}: an object of ${label}`, {
        [name]: Object.fromEntries(Array.from({ length: Math.min(fitting, 1_900) }, (_, index) => [`p${index}`, item])),
      })
    }
  }
  return values
}

function objectWithWrongTypes(schema: RequestValueSchema): object {
  const properties = schema.properties ?? schema.anyOf?.[0]?.properties ?? {}
  return Object.fromEntries(Object.keys(properties).map((name) => [name, [{ x: [] }]]))
}

function countValues(value: unknown): number {
  if (value === null || typeof value !== 'object') return 1
  return 1 + Object.values(value).reduce((sum: number, inner) => sum + countValues(inner), 0)
}

/** JSON texts that are expensive to parse. */
const hostileJson = new Map([
  ['empty objects', `[${'{},'.repeat(87_000)}{}]`],
  ['objects with different names', `[${Array.from({ length: 19_000 }, (_, i) => `{"${i.toString(36)}":0}`).join()}]`],
  [
    'objects with names in different orders',
    `[${Array.from({ length: 2_200 }, (_, i) => `{${Array.from({ length: 8 }, (_, j) => `"${((i * 7919 + j * 104_729) % 1900).toString(36)}":0`).join()}}`).join()}]`,
  ],
  ['many names', `{${Array.from({ length: 24_000 }, (_, i) => `"${i.toString(36)}":0`).join()}}`],
  ['deep lists', `${'['.repeat(131_000)}${']'.repeat(131_000)}`],
  ['deep objects', `${'{"a":'.repeat(43_000)}0${'}'.repeat(43_000)}`],
  ['escapes', `{"a":"${'\\u0041'.repeat(43_000)}"}`],
  ['unpaired surrogates', `{"a":"${'\\ud800'.repeat(43_000)}"}`],
  ['an unfinished text', `{"a":"${'x'.repeat(262_000)}`],
  ['numbers with many digits', `[${`${'9'.repeat(400)},`.repeat(650)}1]`],
])

/** Fails if parsing a body, or rejecting it, takes too much CPU time; returns the time. */
async function requireCheap(what: string, rawBody: Buffer, parse: (rawBody: Buffer) => unknown): Promise<number> {
  const ms = await measureCpuMs(MAX_CPU_MS, {
    input: () => rawBody,
    run: async (body) => {
      try {
        await parse(body)
      } catch {
        // rejected
      }
    },
  })
  assert.ok(ms <= MAX_CPU_MS, `${what} took ${ms.toFixed(1)} ms of CPU time`)
  return ms
}

test('any rejected body of up to 256 KB takes at most 5 ms of CPU time, on every route', async (t) => {
  let slowest = { ms: 0, what: '' }
  const measure = async (what: string, rawBody: Buffer, validate: (body: unknown) => number) => {
    assert.ok(rawBody.length <= MAX_BODY_BYTES, `${what} has ${rawBody.length} bytes`)
    const ms = await requireCheap(what, rawBody, () => validate(parseJson(rawBody)))
    if (ms > slowest.ms) slowest = { ms, what }
  }
  for (const { route, part, schema } of distinctSchemas((await listSchemas()).parts)) {
    if (part !== 'body') continue
    const validator = compileRequestValidator({ body: schema })
    const validateBody = (rawBody: Buffer) => (body: unknown) =>
      validator({ params: {}, query: {}, body, rawBody }).length
    for (const [label, value] of hostileValues(schema as RequestValueSchema)) {
      const rawBody = Buffer.from(JSON.stringify(value))
      await measure(`${route}, ${label}`, rawBody, validateBody(rawBody))
    }
  }
  for (const [label, json] of hostileJson) await measure(label, Buffer.from(json), () => 0)
  t.diagnostic(`slowest: ${slowest.what}, ${slowest.ms.toFixed(2)} ms`)
})

const CREATED = { created_at: new Date(0), updated_at: new Date(0) }
const SCIM_SCOPE = { provider_id: 'IDP_1', org_id: 'ORG_1' }
const SCIM_USER = {
  ...{ ...SCIM_SCOPE, ...CREATED, user_id: 'SU_1', external_id: null, user_name: 'asha', email: 'asha@metro.example' },
  ...{ display_name: null, given_name: null, family_name: null, active: true },
}
const SCIM_GROUP = { ...SCIM_SCOPE, ...CREATED, group_id: 'SG_1', display_name: 'A', external_id: null, members: [] }

const listOf = <T>(length: number, create: (index: number) => T): T[] =>
  Array.from({ length }, (_, index) => create(index))
const objectOf = (length: number, value: unknown) => Object.fromEntries(listOf(length, (index) => [`p${index}`, value]))

/** Bodies that the library for SCIM would take long for, or that are rejected as late as possible. */
function hostileScimBodies(): Map<string, object> {
  const user = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'not an address' }
  const group = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'] }
  const patch = (Operations: object[]) => ({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations,
  })
  return new Map<string, object>([
    ['unknown properties', objectOf(1_900, 'x'.repeat(100))],
    ['a list', listOf(19_000, () => 1)],
    ['schemas', { ...user, schemas: listOf(19_000, (i) => `urn:${i}`) }],
    ['a long name', { ...user, userName: 'x'.repeat(250_000) }],
    ['email addresses', { ...user, emails: listOf(5_500, (i) => ({ value: `a${i}@metro.example`, primary: true })) }],
    ['as many email addresses as allowed', { ...user, emails: listOf(100, (i) => ({ value: `${i}`, primary: true })) }],
    ['empty email addresses', { ...user, emails: listOf(19_000, () => ({})) }],
    ['phone numbers', { ...user, phoneNumbers: listOf(9_000, (i) => ({ value: `${i}` })) }],
    [
      'addresses',
      { ...user, addresses: listOf(3_000, (i) => ({ streetAddress: `${i}`, locality: 'x', region: 'y' })) },
    ],
    ['properties of the name', { ...user, name: objectOf(1_900, 'x'.repeat(100)) }],
    ['members', { ...group, displayName: 'A', members: listOf(9_000, (i) => ({ value: `SU_${i}` })) }],
    ['as many members as allowed', { ...group, members: listOf(1_000, (i) => ({ value: `SU_${i}`, display: 'x' })) }],
    ['operations', patch(listOf(4_000, () => ({ op: 'add', path: 'displayName', value: 'x' })))],
    ['removals', patch(listOf(6_000, () => ({ op: 'remove', path: 'members' })))],
    ['empty operations', patch(listOf(19_000, () => ({})))],
    [
      'values of operations',
      patch(listOf(100, (i) => ({ op: 'add', path: 'emails', value: listOf(80, (j) => ({ value: `${i}-${j}` })) }))),
    ],
    ['properties of an operation', patch([{ op: 'add', value: objectOf(1_900, 'x'.repeat(50)) }])],
    [
      'members of an operation',
      patch([{ op: 'add', path: 'members', value: listOf(9_000, (i) => ({ value: `${i}` })) }]),
    ],
  ])
}

test('any rejected SCIM request of up to 256 KB takes at most 5 ms of CPU time', async (t) => {
  const parsers: Record<string, (body: unknown) => unknown> = {
    'POST /Users': (body) => readUser(body, ['metro.example']),
    'PATCH /Users': (body) => patchUser(SCIM_USER, body),
    'POST /Groups': (body) => readGroup(body),
    'PATCH /Groups': (body) => patchGroup(SCIM_GROUP, body),
  }
  let slowest = { ms: 0, what: '' }
  for (const [label, body] of hostileScimBodies()) {
    const rawBody = Buffer.from(JSON.stringify(body))
    assert.ok(rawBody.length <= MAX_BODY_BYTES, label)
    for (const [route, parse] of Object.entries(parsers)) {
      const what = `${route}, ${label}`
      const ms = await requireCheap(what, rawBody, () => parse(parseJson(rawBody)))
      if (ms > slowest.ms) slowest = { ms, what }
    }
  }
  t.diagnostic(`slowest: ${slowest.what}, ${slowest.ms.toFixed(2)} ms`)
})

test('any forged form of a provider takes at most 5 ms of CPU time', async () => {
  const maxBytes = 64 * 1024
  const reports = JSON.stringify(listOf(1_000, (i) => ({ externalId: `${i}`, eventType: 'DELIVERED' })))
  for (const [label, form] of new Map([
    ['fields', 'a&'.repeat(maxBytes / 2)],
    ['different fields', listOf(9_000, (i) => `k${((i * 7919) % 9000).toString(36)}=1`).join('&')],
    ['as many fields as allowed', listOf(500, (i) => `k${(i * 7919) % 500}=${'x'.repeat(120)}`).join('&')],
    ['escapes', '%41'.repeat(maxBytes / 3)],
    ['spaces', '+'.repeat(maxBytes)],
    ['reports', reports],
    ['reports in a field', `response=${encodeURIComponent(reports.slice(0, 20_000))}`],
  ])) {
    assert.ok(form.length <= maxBytes, label)
    await requireCheap(label, Buffer.from(form), (body) =>
      isSignedByTwilio('secret', 'https://verify.example/hooks', readForm(body), 'forged'),
    )
    await requireCheap(`${label} of Gupshup`, Buffer.from(form), (body) =>
      readGupshupReports(readJsonOrField(body, 'response')),
    )
  }
})
