import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { startApp } from '../../test/support/app.ts'
import { createPartner } from '../../test/support/partners.ts'
import { brunoCollection } from './bruno.ts'
import { postmanCollection } from './postman.ts'
import { readRequests } from './requests.ts'
import { brunoSigningScript, postmanSigningScript } from './signing-script.ts'

// Runs the signing scripts with the parts of the script APIs of Postman and Bruno that they use. Both tools provide crypto-js.

interface SentRequest {
  method: string
  url: string
  headers: Record<string, string>
  body: string | undefined
}

type Variables = Record<string, string>
type RunScript = (request: SentRequest, variables: Variables, now: number) => SentRequest

const require = createRequire(import.meta.url)

const replaceVariables = (text: string, variables: Variables) =>
  text.replaceAll(/\{\{([\w$]+)\}\}/g, (placeholder, name) => variables[name] ?? placeholder)

function sandboxOf(now: number) {
  const FixedDate = { now: () => now }
  return { require: (name: string) => require(name), encodeURI, Date: FixedDate, Error, Math, String, JSON }
}

const runPostmanScript: RunScript = (request, variables, now) => {
  const sent = { ...request, headers: { ...request.headers } }
  const body = sent.body === undefined ? undefined : { raw: sent.body }
  const pm = {
    variables: {
      get: (name: string) => variables[name],
      set: (name: string, value: string) => {
        variables[name] = value
      },
      replaceIn: (text: string) => replaceVariables(text, { ...variables, $guid: 'guid-1' }),
    },
    request: {
      method: sent.method,
      body,
      url: {
        toString: () => sent.url,
        update: (url: string) => {
          sent.url = url
        },
      },
      headers: {
        one: (name: string) => (name in sent.headers ? { value: sent.headers[name] } : undefined),
        upsert: ({ key, value }: { key: string; value: string }) => {
          sent.headers[key] = value
        },
      },
    },
  }
  runInNewContext(postmanSigningScript, { ...sandboxOf(now), pm })
  return { ...sent, body: body?.raw }
}

const runBrunoScript: RunScript = (request, variables, now) => {
  const sent = { ...request, headers: { ...request.headers } }
  const bru = {
    interpolate: (text: string) => replaceVariables(text, variables),
    setVar: (name: string, value: string) => {
      variables[name] = value
    },
  }
  const req = {
    getUrl: () => sent.url,
    setUrl: (url: string) => {
      sent.url = url
    },
    getMethod: () => sent.method,
    getBody: () => sent.body,
    setBody: (body: string) => {
      sent.body = body
    },
    getHeader: (name: string) => sent.headers[name],
    setHeader: (name: string, value: string) => {
      sent.headers[name] = value
    },
  }
  runInNewContext(brunoSigningScript, { ...sandboxOf(now), bru, req })
  return sent
}

for (const [tool, runScript] of [
  ['Postman', runPostmanScript],
  ['Bruno', runBrunoScript],
] as const) {
  test(`the requests that the script for ${tool} signs are accepted`, async (t) => {
    const app = await startApp(t)
    const { key } = await createPartner(app, 'test')
    const send = async (request: SentRequest) => {
      const variables: Variables = { baseUrl: `${app.url}/`, keyId: key.keyId, secret: key.secret }
      const { method, url, headers, body } = runScript(request, variables, app.clock.now())
      const sentHeaders = Object.entries(headers).map(([name, value]): [string, string] => [
        name,
        replaceVariables(value, variables),
      ])
      return (await fetch(url, { method, headers: sentHeaders, body: body ?? null })).status
    }
    const read = { method: 'GET', headers: {}, body: undefined }
    assert.equal(await send({ ...read, url: `${app.url}/api/v1/partner/shifts` }), 200)
    const search = '/api/v1/partner/skills/search?q=house wiring%20बिजली'
    assert.equal(await send({ ...read, url: `${app.url}${search}` }), 200)
    const url = `${app.url}/api/v1/partner/workflows`
    const headers = {
      'content-type': 'application/json',
      'Idempotency-Key': '{{idempotencyKey}}',
      'x-on-behalf-of': 'asha@example.com',
    }
    assert.equal(await send({ method: 'POST', url, headers, body: '{\n  "name": "बिजली"\n}' }), 201)
  })

  test(`the script for ${tool} explains a missing key`, () => {
    const request = { method: 'GET', url: 'http://127.0.0.1/x', headers: {}, body: undefined }
    assert.throws(() => runScript(request, { keyId: '', secret: '' }, 0), /Set the variables keyId and secret/)
  })
}

test('the collections contain every operation, and every variable is defined', () => {
  const { folders, pathVariables } = readRequests()
  const operationIds = ['partner', 'verification', 'catalogue'].flatMap((api) => {
    const { paths } = JSON.parse(readFileSync(new URL(`../../openapi/${api}.json`, import.meta.url), 'utf8'))
    return Object.values(paths as Record<string, object>).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId as string),
    )
  })
  const requests = folders.flatMap(({ groups }) => groups.flatMap((group) => group.requests))
  assert.deepEqual(requests.map(({ operationId }) => operationId).sort(), operationIds.sort())
  const requestFiles = Object.keys(brunoCollection(folders, pathVariables)).filter(
    (path) => path.endsWith('.bru') && !/(^|\/)(folder|collection)\.bru$|^environments\//.test(path),
  )
  assert.equal(requestFiles.length, requests.length, 'no two requests have the same file')
  const collection = postmanCollection(folders, pathVariables) as { variable: { key: string }[]; item: object[] }
  const defined = new Set([...collection.variable.map(({ key }) => key), 'idempotencyKey'])
  for (const [, name] of JSON.stringify(collection.item).matchAll(/\{\{(\w+)\}\}/g)) assert.ok(defined.has(name!), name)
})
