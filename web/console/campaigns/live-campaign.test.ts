import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPage, getButton, getDialog, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { createCampaignPartner } from '../../../test/support/partners.ts'

test('in LIVE mode a campaign starts only after confirmation', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId, scope, get } = await createCampaignPartner(app, { mode: 'live', credits: 3 })
  const { mandate_id } = await app.fixtures.createMandate(scope, {}, 'playground')
  const getBalance = async () => (await get('/credits')).body.data.balance
  const page = await openConsolePage(t, app)
  const writes: string[] = []
  page.on('request', (request) => {
    const isDryRun = request.headers()['x-dry-run'] === 'true'
    const path = new URL(request.url()).pathname.replace(/.*\/live/, '')
    if (request.method() === 'POST' && !isDryRun && path !== '/spending/estimate') writes.push(path)
  })
  await page.goto(`${app.url}/console/${orgId}/live/campaigns/new?mandate_id=${mandate_id}`)
  await page.getByText('Live: real people, real credits').waitFor()
  const pasteField = page.getByLabel(/^Paste rows/)
  const csvRows = (count: number) =>
    ['name,phone', ...Array.from({ length: count }, (_, n) => `Person ${n},+91981000000${n}`)].join('\n')
  await pasteField.fill(csvRows(4))
  await getButton(page, 'Preview rows').click()
  await page.getByText('4 credits, 3 credits left').waitFor()
  assert.ok(await getButton(page, 'Contact 4 candidates').isDisabled(), 'not enough credits')
  await getButton(page, 'Start over').click()
  await pasteField.fill(csvRows(2))
  await getButton(page, 'Preview rows').click()
  await page.getByText('All rows are valid').waitFor()

  await getButton(page, 'Contact 2 candidates').click()
  await getDialog(page).getByText('each candidate costs 1 credit').waitFor()
  await getDialog(page)
    .getByText(/^Estimated cost of the messages: ₹1\.73 for the first messages/)
    .waitFor()
  await checkPage(page, 'live-confirmation')
  await getButton(page, 'Cancel').click()
  await getDialog(page).waitFor({ state: 'detached' })
  await getButton(page, 'Contact 2 candidates').click()
  await getDialog(page).waitFor()
  await page.keyboard.press('Escape')
  await getDialog(page).waitFor({ state: 'detached' })
  assert.deepEqual(writes, [], 'nothing was sent')
  assert.equal(await getBalance(), 3)

  await getButton(page, 'Contact 2 candidates').click()
  await getButton(page, 'Contact now').click()
  await waitForHeading(page, /^Electrician/)
  await page.getByText('2 candidates enrolled.').waitFor()
  await page.getByRole('img', { name: /2 pending/ }).waitFor()
  assert.deepEqual(writes, ['/campaigns'])
  assert.equal(await getBalance(), 1)
  await getButton(page, 'Change spend cap').click()
  await page.getByLabel(/^Spend cap in INR/).fill('much')
  await getButton(page, 'Save').click()
  await page.locator('.field-error').waitFor()
  await page.getByLabel(/^Spend cap in INR/).fill('250.5')
  await getButton(page, 'Save').click()
  await page.getByText('Spend cap: ₹250.50.').waitFor()
  await checkPage(page, 'live-campaign')
  await page.getByRole('link', { name: 'pending 2' }).click()
  const callLink = page.getByRole('link', { name: '+919810000001' })
  assert.equal(await callLink.getAttribute('href'), 'tel:+919810000001', 'a tap starts a call')
})
