import { test } from 'node:test'
import { button, consolePage, look } from '../../../test/browser/console-page.ts'
import { shot } from '../../../test/browser/screenshots.ts'
import { startApp } from '../../../test/support/app.ts'
import { campaigner, pass, player } from '../../../test/support/campaigns.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { startReceiver } from '../../../test/support/receiver.ts'

const PHONE = { width: 390, height: 844, hasTouch: true, isMobile: true }

test('on a phone and in the dark', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const run = await campaigner(app)
  const { mandate_id } = await run.mandate()
  await run.campaign(
    mandate_id,
    [1, 2, 5].map((number) => player(number)),
  )
  await pass(app, 5000)
  await app.given.key(run.orgId, { mode: 'test' })
  const receiver = await startReceiver(t)
  const made = await run.post('/webhooks', { url: receiver.url })
  const page = await consolePage(t, app, { ...PHONE, colorScheme: 'dark' })
  await button(page, 'Menu').click()
  await page.getByRole('link', { name: 'Organisations' }).waitFor()
  await shot(page, 'phone-menu', false)
  const pages = [
    'analytics',
    'verifications',
    'keys',
    'webhooks',
    `webhooks/${made.body.data.webhook_id}`,
    'events',
    'requests',
    'members',
    'audit',
  ]
  for (const path of pages) {
    await page.goto(`${app.url}/console/${run.orgId}/test/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await look(page, `phone-${path.replace(/\/WH_.*/, '-one')}`)
  }
  for (const path of ['organisations', 'skills', 'jobs', 'limits', 'mails', 'audit']) {
    await page.goto(`${app.url}/console/operator/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await look(page, `phone-operator-${path}`)
  }
})
