import { test } from 'node:test'
import { button, checkPage, consolePage } from '../../../test/browser/console-page.ts'
import { screenshot } from '../../../test/browser/screenshots.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { campaignPartner, passTime, testNumber } from '../../../test/support/partners.ts'
import { startReceiver } from '../../../test/support/receiver.ts'

const PHONE = { width: 390, height: 844, hasTouch: true, isMobile: true }

test('integration and operator pages are accessible on a phone in dark mode', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const run = await campaignPartner(app)
  const { mandate_id } = await run.mandate()
  await run.campaign(
    mandate_id,
    [1, 2, 5].map((number) => testNumber(number)),
  )
  await passTime(app, 5000)
  await app.given.key(run.orgId, { mode: 'test' })
  const receiver = await startReceiver(t)
  const created = await run.post('/webhooks', { url: receiver.url })
  const page = await consolePage(t, app, { ...PHONE, colorScheme: 'dark' })
  await button(page, 'Menu').click()
  await page.getByRole('link', { name: 'Organisations' }).waitFor()
  await screenshot(page, 'phone-menu', false)
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
    await page.goto(`${app.url}/console/${run.orgId}/test/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await checkPage(page, `phone-${path.replace(/\/WH_.*/, '-one')}`)
  }
  for (const path of ['organisations', 'skills', 'jobs', 'limits', 'mails', 'audit']) {
    await page.goto(`${app.url}/console/operator/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await checkPage(page, `phone-operator-${path}`)
  }
})
