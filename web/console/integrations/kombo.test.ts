import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulations } from '../../../cli/simulated-ats/simulations.ts'
import { checkPage, getButton, getDialog, openConsolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { ATS_CREDENTIALS, aPerson, startReports } from '../../../test/support/ats/connection.ts'
import { runClock } from '../../../test/support/clock.ts'
import { findFreePort } from '../../../test/support/free-port.ts'
import { createCampaignPartner, passTime } from '../../../test/support/partners.ts'
import { until } from '../../../test/support/until.ts'

test('Kombo is connected in three steps without a key; rejected orders have a name and a payload', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const { token, account_id, signing_secret } = ATS_CREDENTIALS
  const port = await findFreePort()
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${partner.orgId}/test/integrations`)
  await getButton(page, 'Connect an ATS').click()
  await getDialog(page).getByLabel('Kombo', { exact: true }).check()
  await getDialog(page).getByLabel('Kombo API key').fill(token)
  assert.ok(await getDialog(page).getByRole('button', { name: 'Connect' }).isDisabled())
  await getDialog(page).getByLabel('Kombo integration ID').fill(account_id)
  await getDialog(page).getByText('Use https://api.us.kombo.dev/v1 for the US region of Kombo.').waitFor()
  await getDialog(page).getByLabel('Kombo API URL').fill('https://10.0.0.1/v1')
  await getDialog(page).getByRole('button', { name: 'Connect' }).click()
  await getDialog(page).getByText('must be a URL of Kombo (kombo.dev); got the host 10.0.0.1').waitFor()
  await getDialog(page).getByLabel('Kombo API URL').fill('https://api.us.kombo.dev/v1')
  await getDialog(page).getByRole('button', { name: 'Connect' }).click()
  await page.getByText('Enter the Kombo webhook secret').waitFor()
  await page.getByRole('link', { name: 'Kombo', exact: true }).click()
  await page.getByText('https://api.us.kombo.dev/v1', { exact: true }).waitFor()
  const address = (await page.getByText(/\/ats\/kombo\/orders\/AC_/).textContent())!
  assert.equal(await page.getByRole('heading', { name: 'Keys' }).count(), 0)
  await checkPage(page, 'integration-kombo')
  await getButton(page, 'Edit').click()
  await getDialog(page).getByLabel('Kombo API URL').fill(`http://127.0.0.1:${port}/`)
  await getDialog(page).getByRole('button', { name: 'Save' }).click()
  await page.getByText(`http://127.0.0.1:${port}`, { exact: true }).waitFor()
  startReports(t, app)
  await page.getByText(/Kombo did not accept the list of tests: .*refused/).waitFor()
  const ats = await simulations.kombo({
    serverUrl: app.url,
    key: '',
    connectionId: /AC_\w+/.exec(address)![0],
    token,
    accountId: account_id,
    signingSecret: signing_secret,
    port,
  })
  t.after(() => ats.close())
  await getButton(page, 'Edit').click()
  await getDialog(page).getByLabel('Kombo webhook secret').fill(signing_secret)
  await getDialog(page).getByRole('button', { name: 'Save' }).click()
  await page.getByText('Works: list of tests sent').waitFor()
  assert.deepEqual(
    (await ats.listTests()).map(({ id }) => id),
    [mandate_id],
  )
  await page.getByText('1 test is offered. No order has arrived yet.').waitFor()

  await app.context.keyring.refresh()
  const order = await ats.order('order-1', mandate_id, aPerson(1))
  await page.getByText('Works: last order').waitFor()
  await passTime(app, 10_000)
  await until(() => order.state === 'COMPLETED')
  await page.getByText('Works: last report').waitFor()
  await getButton(page, 'Reports (1) about Person 1').click()
  await getDialog(page).getByText('"status": "COMPLETED"').waitFor()
  await getDialog(page).getByText('delivered').first().waitFor()
  await page.keyboard.press('Escape')
  await getButton(page, 'Send again: last report about Person 1').click()
  await until(() => order.reports === 2)

  const rejected = await ats.order('order-2', 'unknown', { ...aPerson(2), firstName: 'Asha', lastName: 'Verma' })
  await until(() => rejected.state === 'CANCELLED')
  await getButton(page, 'Reports (1) about Asha Verma').click()
  await getDialog(page).getByText('"status": "CANCELLED"').waitFor()
  await getDialog(page).getByText('The test unknown does not exist.').first().waitFor()
  await checkPage(page, 'integration-kombo-rejected')
  await page.keyboard.press('Escape')
  await getButton(page, 'Send again: last report about Asha Verma').click()
  await until(() => rejected.reports === 2)
  await page.getByRole('link', { name: 'Asha Verma' }).click()
  await getButton(page, 'Show the data').waitFor()
  await page.goBack()
  await getButton(page, 'Reports (1) about Asha Verma').waitFor()

  await getButton(page, 'Disconnect').click()
  await getDialog(page).getByRole('button', { name: 'Disconnect' }).click()
  await page.getByText('disconnected', { exact: true }).waitFor()
  await app.context.keyring.refresh()
  assert.equal((await ats.order('order-3', mandate_id, aPerson(3))).status, 401)
  assert.deepEqual(ats.violations, [])
})
