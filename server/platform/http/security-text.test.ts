import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { TestClock } from '../../../test/support/clock.ts'
import { readConfig } from '../../config.ts'
import { DAY } from '../clock.ts'

const PATH = '/.well-known/security.txt'

test('security.txt lists the contacts in order, an expiry within a year and the canonical URL', async (t) => {
  const { securityContacts } = readConfig({ SECURITY_CONTACT: 'security@example.com, https://example.com/report' })
  const clock = new TestClock(Date.parse('2027-03-04T05:06:07Z'))
  const app = await startApp(t, {
    clock,
    config: { securityContacts, publicUrl: 'https://verify.example.com', trustProxy: ['127.0.0.1'] },
  })
  const read = async (path = PATH) => {
    const response = await fetch(app.url + path)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
    return response.text()
  }
  assert.equal(
    await read(),
    [
      'Contact: mailto:security@example.com',
      'Contact: https://example.com/report',
      'Expires: 2027-08-31T00:00:00Z',
      'Canonical: https://verify.example.com/.well-known/security.txt',
      '',
    ].join('\n'),
  )
  clock.advance(DAY)
  assert.match(await read(), /^Expires: 2027-09-01T00:00:00Z$/m)
})

test('security.txt has no canonical URL if PUBLIC_URL is not https, because the standard allows only https', async (t) => {
  const { url } = await startApp(t, { config: { securityContacts: ['mailto:security@example.com'] } })
  assert.doesNotMatch(await (await fetch(url + PATH)).text(), /Canonical/)
})

test('without SECURITY_CONTACT, security.txt does not exist', async (t) => {
  const { fetch } = await startApp(t)
  const { status, body } = await fetch(PATH)
  assert.equal(status, 404)
  assert.equal(body.message, 'This server has no security contact. Its operator can set SECURITY_CONTACT.')
})

test('if HTTPS is required, security.txt is served over HTTPS only', async (t) => {
  const { fetch } = await startApp(t, {
    config: { securityContacts: ['mailto:security@example.com'], requireHttps: true, trustProxy: ['127.0.0.1'] },
  })
  assert.equal((await fetch(PATH)).status, 403)
  assert.equal((await fetch(PATH, { headers: { 'x-forwarded-proto': 'https' } })).status, 200)
})
