import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordEvents } from '../../../server/events/record.ts'
import { button, consolePage, dialog, look } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { startReceiver } from '../../../test/support/receiver.ts'

test('an endpoint is added, tested, fails, recovers; events are acknowledged', async (t) => {
  const app = await startApp(t, { worker: true })
  keepTime(t, app.clock)
  const { orgId } = await app.given.org()
  const receiver = await startReceiver(t)
  const page = await consolePage(t, app)
  const at = `${app.url}/console/${orgId}/test`
  await page.goto(`${at}/webhooks`)
  await page.getByText('No endpoint yet').waitFor()
  await look(page, 'webhooks-empty')
  await button(page, 'Add an endpoint').click()
  const address = dialog(page).getByLabel('Address')
  await address.fill('http://169.254.169.254/latest')
  await dialog(page).locator('#webhook-url-fault').waitFor() // what the API says, before anything is sent for good
  await look(page, 'webhooks-fault')
  await address.fill(receiver.url)
  await dialog(page).locator('#webhook-url-fault').waitFor({ state: 'detached' })
  await button(page, 'Add the endpoint').last().click()
  await dialog(page)
    .getByText(/^whsec_/)
    .waitFor()
  await page.keyboard.press('Escape')
  await look(page, 'webhooks')

  await page.getByRole('link', { name: receiver.url }).click()
  await button(page, 'Send a test event').click()
  await page.getByRole('row', { name: /webhook\.test.*delivered/ }).waitFor()
  await receiver.has(1)
  receiver.answer = (_, response) => response.writeHead(500).end('no room')
  await button(page, 'Send a test event').click()
  const waits = page.getByRole('row', { name: /webhook\.test.*pending/ })
  await waits.getByText(/^500/).waitFor()
  await waits.getByRole('button', { name: /attempts? of webhook.test/ }).click()
  await dialog(page).getByText('no room').first().waitFor()
  await look(page, 'webhook-attempts')
  await page.keyboard.press('Escape')
  receiver.answer = () => 204
  await waits.getByRole('button', { name: /^Replay EV/ }).click()
  await page.getByText('1 event is sent again, at once.').waitFor()
  await waits.waitFor({ state: 'detached' })
  await look(page, 'webhook')

  await button(page, 'Disable').click()
  await dialog(page).getByRole('button', { name: 'Disable' }).click()
  await page.getByText('Nothing is sent while it is disabled').waitFor()
  const scope = { orgId, mode: 'test' as const }
  const { context } = app
  await context.db.transaction((tx) => recordEvents(tx, scope, app.clock, 'mandate.ready', [{ title: 'Electrician' }]))
  await context.events.settle(scope)
  const before = receiver.received.length
  await button(page, 'Enable').click()
  await button(page, 'Enable, and send what was held').click()
  await page.getByText('What was held is being sent.').waitFor()
  await receiver.has(before + 1)
  assert.equal(receiver.received.at(-1)!.body.type, 'mandate.ready')
  await button(page, 'Rotate the secret').click()
  await button(page, 'Make a new secret').click()
  await dialog(page)
    .getByText(/^whsec_/)
    .waitFor()
  await page.keyboard.press('Escape')
  await button(page, 'Archive').click()
  await dialog(page).getByRole('button', { name: 'Archive' }).click()
  await page.getByText('archived', { exact: true }).waitFor()

  await context.db.transaction((tx) => recordEvents(tx, scope, app.clock, 'mandate.failed', [{ title: 'Welder' }]))
  await context.events.settle(scope)
  await page.goto(`${at}/events`)
  const event = page.getByRole('row', { name: /mandate\.failed/ })
  await look(page, 'events')
  await event.getByRole('button').click()
  await dialog(page).getByText('"title": "Welder"').waitFor()
  await look(page, 'events-json')
  await button(page, 'Acknowledge, and end its retries').click()
  await event.waitFor({ state: 'detached' })
  await page.getByLabel('Show').selectOption('Acknowledged')
  await event.getByText('by pull').waitFor()
})
