import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulations } from '../../../cli/simulated-ats/simulations.ts'
import { startReporter } from '../../../server/ats/reports/reporter.ts'
import { assertAccessible } from '../../../test/browser/axe.ts'
import { newPage } from '../../../test/browser/browser.ts'
import { checkPage, getButton, getDialog, openConsolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { ATS_TOKEN, aPerson, startAts } from '../../../test/support/ats/connection.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { createCampaignPartner, passTime } from '../../../test/support/partners.ts'
import { until } from '../../../test/support/until.ts'

test('an ATS is connected in three steps with checks; reports are shown, sent again, and stopped by disconnecting', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${partner.orgId}/test/integrations`)
  await page.getByText('No ATS is connected').waitFor()
  await checkPage(page, 'integrations-empty')

  await getButton(page, 'Connect an ATS').click()
  await getDialog(page).getByLabel('Ashby', { exact: true }).check()
  await getDialog(page).getByLabel('Ashby API key').waitFor()
  await getDialog(page).getByLabel('Workable').check()
  await getDialog(page).getByLabel('Workable token').fill(ATS_TOKEN)
  await getDialog(page).getByLabel('Country of phone numbers').fill('ZZ')
  await getDialog(page).getByRole('button', { name: 'Connect' }).click()
  await getDialog(page).getByText('must be a country code of ISO 3166-1').waitFor()
  await checkPage(page, 'integrations-error')
  await getDialog(page).getByLabel('Country of phone numbers').fill('in')
  await getDialog(page).getByRole('button', { name: 'Connect' }).click()
  const key = (await getDialog(page)
    .getByText(/^VAT_TEST_/)
    .textContent())!
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Workable' }).click()
  await page.getByText('Workable has not called yet.').waitFor()
  await page.getByText(`${app.url}/ats/workable`).waitFor()
  await page.getByText('1 test is offered. No order has arrived yet.').waitFor()

  await getButton(page, 'Edit').click()
  await getDialog(page).getByLabel('Name (optional)').fill('Workable of Pune')
  await getDialog(page).getByLabel('Only these jobs').check()
  assert.ok(await getDialog(page).getByRole('button', { name: 'Save' }).isDisabled())
  await getDialog(page).getByRole('checkbox').check()
  await getDialog(page).getByText('1 chosen').waitFor()
  await checkPage(page, 'integration-mandates')
  await getDialog(page).getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Workable of Pune' }).waitFor()
  await page.getByText('1 chosen job', { exact: true }).waitFor()

  await app.context.keyring.refresh()
  const ats = await simulations.workable({ serverUrl: app.url, key, token: ATS_TOKEN })
  t.after(() => ats.close())
  const reporter = startReporter(app.context)
  t.after(() => reporter.stop())
  const order = await ats.order('order-1', mandate_id, aPerson(1))
  await passTime(app, 10_000)
  await until(() => order.state === 'completed')
  await page.getByText('Works: last report').waitFor()
  await page.getByRole('link', { name: 'Electrician, Metro Ltd' }).waitFor()
  await checkPage(page, 'integration')

  await getButton(page, 'Reports (1) about Person 1').click()
  await getDialog(page).getByText('"status": "completed"').waitFor()
  assert.doesNotMatch((await getDialog(page).textContent())!, /reports\/AO_\w+\./)
  await checkPage(page, 'integration-reports')
  await page.keyboard.press('Escape')
  await getButton(page, 'Send again: last report about Person 1').click()
  await page.getByText('The last report is sent again.').waitFor()
  await until(() => order.reports === 2)

  ats.react = () => ({ status: 401 })
  await ats.order('order-2', mandate_id, aPerson(2))
  await passTime(app, 10_000)
  await page.getByText(/The last report was not accepted: .*401/).waitFor()
  assert.equal(await page.getByText('Works: last report').count(), 0)
  await page.getByRole('link', { name: 'Integrations' }).last().click()
  await page.getByText('Check why the last report was not accepted').waitFor()
  await page.getByRole('link', { name: 'Workable of Pune' }).click()
  ats.react = () => undefined

  const reportPage = await newPage(t, { width: 320, height: 800 })
  await reportPage.goto((order.result as { results_url: string }).results_url)
  await reportPage.getByRole('heading', { name: 'Report: Person 1' }).waitFor()
  for (const width of [320, 360, 1280])
    for (const colorScheme of ['light', 'dark'] as const) {
      await reportPage.setViewportSize({ width, height: 800 })
      await reportPage.emulateMedia({ colorScheme })
      await assertAccessible(reportPage)
      assert.ok(await reportPage.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${width}`)
    }
  const pdfLink = reportPage.getByRole('link', { name: 'Open as PDF' })
  const pdf = await fetch(new URL((await pdfLink.getAttribute('href'))!, reportPage.url()))
  assert.equal(pdf.headers.get('content-type'), 'application/pdf')
  await reportPage.emulateMedia({ media: 'print', colorScheme: 'dark' })
  await pdfLink.waitFor({ state: 'hidden' })
  assert.equal(await reportPage.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(255, 255, 255)')

  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const viewerPage = await openConsolePage(t, app, { email: viewer.email })
  await viewerPage.goto(page.url())
  await viewerPage.getByRole('heading', { name: 'Orders' }).waitFor()
  assert.equal(await getButton(viewerPage, 'Disconnect').count(), 0)

  await getButton(page, 'Disconnect').click()
  await getDialog(page).getByRole('button', { name: 'Disconnect' }).click()
  await page.getByText('disconnected', { exact: true }).waitFor()
  await app.context.keyring.refresh()
  assert.equal((await ats.order('order-3', mandate_id, aPerson(3))).status, 401)
})

test('the page of a connection shows waiting orders, errors and the status that Greenhouse reads', async (t) => {
  const app = await startApp(t)
  const { ats, partner, connectionId, key } = await startAts(t, app, 'greenhouse')
  const { mandate_id } = await partner.createMandate()
  await ats.order('order-1', mandate_id, aPerson(1))
  const [campaign] = (await partner.get('/campaigns')).body.data.items
  await partner.post(`/campaigns/${campaign.campaign_id}/pause`)
  await app.fetch('/ats/greenhouse/response_error', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ api_call: 'list_tests', errors: ['partner_test_name is blank'] }),
  })
  const page = await openConsolePage(t, app)
  const list = `${app.url}/console/${partner.orgId}/test/integrations`
  await page.goto(list)
  await page.getByText('Resume the paused campaign').waitFor()
  await page.goto(`${list}/${connectionId}`)
  await page.getByText('1 order waits, because the campaign of Electrician, Metro Ltd is paused.').waitFor()
  await page.getByText('list_tests: partner_test_name is blank').waitFor()
  await page.getByRole('link', { name: 'the campaign is paused' }).waitFor()
  await checkPage(page, 'integration-paused')
  await getButton(page, 'Reports (0) about Person 1').click()
  await getDialog(page).getByText('"partner_status": "paused"').waitFor()
  await getDialog(page).getByText('so the candidate is not contacted').waitFor()
  await checkPage(page, 'integration-paused-order')
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Open the campaign' }).click()
  await getButton(page, 'Resume').click()
  await getButton(page, 'Pause').waitFor()
})
