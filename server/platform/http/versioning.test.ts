import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'

test('responses have the version of the server, and those of deprecated routes the dates of the deprecation', async (t) => {
  const { fetch } = await startApp(t, {
    extend: (app) => {
      const deprecation = { since: '2026-01-01', sunset: '2027-01-01', successor: '/api/v2/old' }
      app.get('/old', { config: { deprecation } }, async () => ({ success: true }))
    },
  })
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  for (const path of ['/api/v1/partner/shifts', '/api/skills?limit=1', '/api/nothing', '/healthz', '/%'])
    assert.equal((await fetch(path)).headers.get('attestry-version'), version, path)

  const { headers } = await fetch('/old')
  assert.equal(headers.get('deprecation'), `@${Date.UTC(2026, 0, 1) / 1000}`)
  assert.equal(headers.get('sunset'), 'Fri, 01 Jan 2027 00:00:00 GMT')
  assert.equal(headers.get('link'), '</api/v2/old>; rel="successor-version"')
  assert.equal((await fetch('/api/skills?limit=1')).headers.get('deprecation'), null)
})
