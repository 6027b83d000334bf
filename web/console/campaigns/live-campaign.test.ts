import assert from 'node:assert/strict'
import { test } from 'node:test'
import { button, consolePage, dialog, heading, look } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { campaigner } from '../../../test/support/campaigns.ts'
import { keepTime } from '../../../test/support/clock.ts'

test('in LIVE nobody is contacted before a second yes', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { orgId, scope, get } = await campaigner(app, { mode: 'live', credits: 3 })
  const { mandate_id } = await app.given.mandate(scope, {}, 'playground')
  const balance = async () => (await get('/credits')).body.data.balance
  const page = await consolePage(t, app)
  const writes: string[] = []
  page.on('request', (request) => {
    const dry = request.headers()['x-dry-run'] === 'true'
    if (request.method() === 'POST' && !dry) writes.push(new URL(request.url()).pathname.replace(/.*\/live/, ''))
  })
  await page.goto(`${app.url}/console/${orgId}/live/campaigns/new?mandate_id=${mandate_id}`)
  await page.getByText('LIVE: real people').waitFor()
  const paste = page.getByLabel(/^Paste rows/)
  const rows = (count: number) =>
    ['name,phone', ...Array.from({ length: count }, (_, n) => `Person ${n},+91981000000${n}`)].join('\n')
  await paste.fill(rows(4))
  await button(page, 'Read the rows').click()
  await page.getByText('4 credits of 3 that are left').waitFor()
  assert.ok(await button(page, 'Contact 4 real people').isDisabled(), 'more than there are credits')
  await button(page, 'Start over').click()
  await paste.fill(rows(2))
  await button(page, 'Read the rows').click()
  await page.getByText('Every row is right').waitFor()

  await button(page, 'Contact 2 real people').click()
  await dialog(page).getByText('each costs a credit').waitFor()
  await look(page, 'live-asked')
  await button(page, 'Not yet').click()
  await dialog(page).waitFor({ state: 'detached' })
  await button(page, 'Contact 2 real people').click()
  await dialog(page).waitFor()
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  assert.deepEqual(writes, [], 'nothing was sent')
  assert.equal(await balance(), 3)

  await button(page, 'Contact 2 real people').click()
  await button(page, 'Contact them').click()
  await heading(page, /^Electrician/)
  await page.getByText('2 candidates enrolled.').waitFor()
  await page.getByRole('img', { name: /2 pending/ }).waitFor()
  assert.deepEqual(writes, ['/campaigns'])
  assert.equal(await balance(), 1)
  await look(page, 'live-campaign')
  await page.getByRole('link', { name: 'pending 2' }).click()
  const call = page.getByRole('link', { name: '+919810000001' })
  assert.equal(await call.getAttribute('href'), 'tel:+919810000001', 'one tap calls')
})
