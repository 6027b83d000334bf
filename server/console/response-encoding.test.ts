import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { startApp } from '../../test/support/app.ts'
import { CONSOLE_API, signInMember } from '../../test/support/console.ts'

test('the console API compresses responses, and returns 304 without a body while the data is unchanged', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const recruiter = await signInMember(app, orgId, 'recruiter')
  for (let number = 0; number < 12; number++) await app.fixtures.createWorkflow({ orgId, mode: 'test' })
  const get = async (headers: Record<string, string>) => {
    const url = `${app.url}${CONSOLE_API}/orgs/${orgId}/test/lists/workflows?limit=50`
    const response = await request(url, { headers: { cookie: recruiter.cookie, ...headers } })
    return { ...response, bytes: Buffer.from(await response.body.arrayBuffer()) }
  }
  const plain = await get({})
  assert.equal(plain.headers['content-encoding'], undefined)
  const brotli = await get({ 'accept-encoding': 'gzip, br' })
  assert.equal(brotli.headers['content-encoding'], 'br')
  assert.deepEqual(brotliDecompressSync(brotli.bytes), plain.bytes)
  assert.ok(brotli.bytes.length < plain.bytes.length / 3)
  const gzip = await get({ 'accept-encoding': 'gzip' })
  assert.equal(gzip.headers['content-encoding'], 'gzip')
  assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes)
  assert.equal(plain.headers['cache-control'], 'no-store', 'the browser stores no personal data on the disk')

  const etag = String(plain.headers.etag)
  const unchanged = await get({ 'if-none-match': etag, 'accept-encoding': 'br' })
  assert.deepEqual([unchanged.statusCode, unchanged.bytes.length], [304, 0])
  await app.fixtures.createWorkflow({ orgId, mode: 'test' })
  assert.equal((await get({ 'if-none-match': etag })).statusCode, 200)
  const unauthorised = await request(`${app.url}${CONSOLE_API}/orgs/${orgId}/test/lists/workflows`, {
    headers: { 'if-none-match': etag },
  })
  assert.equal(unauthorised.statusCode, 401)
})
