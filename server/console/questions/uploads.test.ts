import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { signInMember } from '../../../test/support/console.ts'
import { until } from '../../../test/support/until.ts'

test('few files of questions are received at the same time, because they are held in memory', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const path = `/console/api/orgs/${orgId}/test/items/upload?file_name=a.csv&dry_run=true`
  const { cookie, csrf } = owner
  const open = () => {
    const request = httpRequest(app.url + path, {
      method: 'POST',
      headers: { cookie, 'x-csrf-token': csrf, 'content-type': 'text/csv', 'content-length': 8_000_000 },
    })
    request.on('error', () => {}) // destroyed below
    const status = new Promise<number>((resolve) => request.on('response', ({ statusCode }) => resolve(statusCode!)))
    request.write('skill_id')
    return { request, status }
  }
  const uploads = [open(), open(), open()]
  assert.equal(await Promise.race(uploads.map(({ status }) => status)), 429)
  for (const { request } of uploads) request.destroy()
  const upload = () =>
    fetch(app.url + path, {
      method: 'POST',
      headers: { cookie, 'x-csrf-token': csrf, 'content-type': 'text/csv' },
      body: 'a',
    })
  await until(async () => {
    app.clock.advance(1000)
    return (await upload()).status !== 429
  })
})
