import assert from 'node:assert/strict'
import { test } from 'node:test'
import { button, checkPage, consolePage, dialog, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { campaignPartner } from '../../../test/support/partners.ts'

test('in LIVE mode a campaign starts only after confirmation', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId, scope, get } = await campaignPartner(app, { mode: 'live', credits: 3 })
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
  await button(page, 'Preview rows').click()
  await page.getByText('4 credits, 3 left').waitFor()
  assert.ok(await button(page, 'Contact 4 people').isDisabled(), 'not enough credits')
  await button(page, 'Start over').click()
  await paste.fill(rows(2))
  await button(page, 'Preview rows').click()
  await page.getByText('All rows are valid').waitFor()

  await button(page, 'Contact 2 people').click()
  await dialog(page).getByText('each costs 1 credit').waitFor()
  await checkPage(page, 'live-confirmation')
  await button(page, 'Cancel').click()
  await dialog(page).waitFor({ state: 'detached' })
  await button(page, 'Contact 2 people').click()
  await dialog(page).waitFor()
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  assert.deepEqual(writes, [], 'nothing was sent')
  assert.equal(await balance(), 3)

  await button(page, 'Contact 2 people').click()
  await button(page, 'Contact now').click()
  await waitForHeading(page, /^Electrician/)
  await page.getByText('2 candidates enrolled.').waitFor()
  await page.getByRole('img', { name: /2 pending/ }).waitFor()
  assert.deepEqual(writes, ['/campaigns'])
  assert.equal(await balance(), 1)
  await checkPage(page, 'live-campaign')
  await page.getByRole('link', { name: 'pending 2' }).click()
  const call = page.getByRole('link', { name: '+919810000001' })
  assert.equal(await call.getAttribute('href'), 'tel:+919810000001', 'a tap starts a call')
})
