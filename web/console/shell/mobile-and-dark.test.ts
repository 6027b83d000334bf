import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPage, getButton, openConsolePage } from '../../../test/browser/console-page.ts'
import { saveScreenshot } from '../../../test/browser/screenshots.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { aTestNumberCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'
import { startReceiver } from '../../../test/support/receiver.ts'

const PHONE = { width: 390, height: 844, hasTouch: true, isMobile: true }

test('integration and operator pages are accessible on a phone in dark mode', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  await partner.createCampaign(
    mandate_id,
    [1, 2, 5].map((number) => aTestNumberCandidate(number)),
  )
  await passTime(app, 5000)
  await app.fixtures.createPartnerKey(partner.orgId, { mode: 'test' })
  const receiver = await startReceiver(t)
  const created = await partner.post('/webhooks', { url: receiver.url })
  const page = await openConsolePage(t, app, { ...PHONE, colorScheme: 'dark' })
  await getButton(page, 'Menu').click()
  await page.getByRole('link', { name: 'Organisations' }).waitFor()
  await saveScreenshot(page, 'phone-menu', false)
  const pages = [
    'analytics',
    'verifications',
    'keys',
    'webhooks',
    `webhooks/${created.body.data.webhook_id}`,
    'events',
    'requests',
    'members',
    'audit',
  ]
  for (const path of pages) {
    await page.goto(`${app.url}/console/${partner.orgId}/test/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await checkPage(page, `phone-${path.replace(/\/WH_.*/, '-one')}`)
  }
  for (const path of ['organisations', 'skills', 'jobs', 'limits', 'mails', 'audit']) {
    await page.goto(`${app.url}/console/operator/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await checkPage(page, `phone-operator-${path}`)
  }
})

test('the dark theme has the same colours whether the system or the member chose it', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  await app.fixtures.createOrg('Metro Staffing')
  const systemPage = await openConsolePage(t, app, { colorScheme: 'dark' })
  const page = await openConsolePage(t, app, { colorScheme: 'light' })
  await page.getByRole('combobox', { name: 'Colours' }).selectOption('dark')
  const colours = await page.evaluate<Record<string, string>>(READ_COLOURS)
  assert.ok(Object.keys(colours).length > 15)
  assert.deepEqual(colours, await systemPage.evaluate<Record<string, string>>(READ_COLOURS))
})

/** Returns the values of all custom properties of the page. */
const READ_COLOURS = `Object.fromEntries([...document.styleSheets]
  .flatMap((sheet) => [...sheet.cssRules])
  .filter((rule) => rule.selectorText === ':root')
  .flatMap((rule) => [...rule.style])
  .filter((name) => /^--(?!lightningcss)/.test(name))
  .map((name) => [name, getComputedStyle(document.documentElement).getPropertyValue(name)]))`
