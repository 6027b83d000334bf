import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordEvents } from '../../../server/events/record.ts'
import { checkPage, getButton, getDialog, openConsolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { startReceiver } from '../../../test/support/receiver.ts'

test('an endpoint can be added, tested, disabled, enabled and archived; events can be replayed and acknowledged', async (t) => {
  const app = await startApp(t, { worker: true })
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const receiver = await startReceiver(t)
  const page = await openConsolePage(t, app)
  const consoleUrl = `${app.url}/console/${orgId}/test`
  await page.goto(`${consoleUrl}/webhooks`)
  await page.getByText('No endpoints yet').waitFor()
  await checkPage(page, 'webhooks-empty')
  await getButton(page, 'Add endpoint').click()
  const url = getDialog(page).getByLabel('URL')
  await url.fill('http://169.254.169.254/latest')
  await getDialog(page).locator('#webhook-url-error').waitFor() // validated before it is submitted
  await checkPage(page, 'webhooks-error')
  await url.fill(receiver.url)
  await getDialog(page).locator('#webhook-url-error').waitFor({ state: 'detached' })
  await getDialog(page).getByRole('button', { name: 'Add endpoint' }).click()
  await getDialog(page)
    .getByText(/^whsec_/)
    .waitFor()
  await page.keyboard.press('Escape')
  await checkPage(page, 'webhooks')

  await page.getByRole('link', { name: receiver.url }).click()
  await getButton(page, 'Send test event').click()
  await page.getByRole('row', { name: /webhook\.test.*delivered/ }).waitFor()
  await receiver.waitFor(1)
  receiver.respond = (_, response) => response.writeHead(500).end('no room')
  await getButton(page, 'Send test event').click()
  const pendingRow = page.getByRole('row', { name: /webhook\.test.*pending/ })
  await pendingRow.getByText(/^500/).waitFor()
  await pendingRow.getByRole('button', { name: /^View .* attempts?$/ }).click()
  await getDialog(page).getByText('no room').first().waitFor()
  await getDialog(page).getByText('"type": "webhook.test"').waitFor()
  await getDialog(page).getByText('Exact body, as it is signed').click()
  const received = receiver.received.at(-1)!
  await getDialog(page).getByText(received.text, { exact: true }).waitFor()
  await getDialog(page).getByText('Request headers').last().click() // the first attempt: others follow
  const first = receiver.received.find(({ body }) => body.event_id === received.body.event_id)!
  const names = ['content-type', 'user-agent', 'webhook-id', 'webhook-timestamp', 'webhook-signature']
  await getDialog(page)
    .getByText(names.map((name) => `${name}: ${first.headers[name]}`).join(' '))
    .waitFor()
  assert.doesNotMatch((await getDialog(page).textContent())!, /whsec_/)
  await checkPage(page, 'webhook-attempts')
  const { event_id: sentId } = received.body
  await getDialog(page).getByRole('link', { name: sentId }).click()
  await page.getByRole('row', { name: /webhook\.test/ }).waitFor()
  await page.getByRole('button', { name: sentId }).click()
  await getDialog(page).getByRole('link', { name: receiver.url }).click()
  await getDialog(page).getByText('no room').first().waitFor()
  await page.setViewportSize({ width: 360, height: 800 })
  await checkPage(page, 'webhook-delivery-360')
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.keyboard.press('Escape')
  await getDialog(page).waitFor({ state: 'detached' })
  receiver.respond = () => 204
  await pendingRow.getByRole('button', { name: /^Replay EV/ }).click()
  await page.getByText('1 event queued for redelivery.').waitFor()
  await pendingRow.waitFor({ state: 'detached' })
  await checkPage(page, 'webhook')

  await getButton(page, 'Disable').click()
  await getDialog(page).getByRole('button', { name: 'Disable' }).click()
  await page.getByText('This endpoint is disabled: events are stored, but not sent.').waitFor()
  const scope = { orgId, mode: 'test' as const }
  const { context } = app
  await context.db.transaction((tx) => recordEvents(tx, scope, app.clock, 'mandate.ready', [{ title: 'Electrician' }]))
  await context.events.flush(scope)
  const receivedBefore = receiver.received.length
  await getButton(page, 'Enable').click()
  await getButton(page, 'Enable and send stored events').click()
  await page.getByText('Stored events are being sent.').waitFor()
  await receiver.waitFor(receivedBefore + 1)
  assert.equal(receiver.received.at(-1)!.body.type, 'mandate.ready')
  await getButton(page, 'Rotate secret').click()
  await getDialog(page).getByRole('button', { name: 'Rotate secret' }).click()
  await getDialog(page)
    .getByText(/^whsec_/)
    .waitFor()
  await page.keyboard.press('Escape')
  await getButton(page, 'Archive').click()
  await getDialog(page).getByRole('button', { name: 'Archive' }).click()
  await page.getByText('archived', { exact: true }).waitFor()

  await context.db.transaction((tx) => recordEvents(tx, scope, app.clock, 'mandate.failed', [{ title: 'Welder' }]))
  await context.events.flush(scope)
  await page.goto(`${consoleUrl}/events`)
  const eventRow = page.getByRole('row', { name: /mandate\.failed/ })
  await checkPage(page, 'events')
  await eventRow.getByRole('button').click()
  await getDialog(page).getByText('"title": "Welder"').waitFor()
  await checkPage(page, 'events-json')
  await getButton(page, 'Acknowledge and stop retries').click()
  await page.getByLabel('Show').selectOption({ label: 'Acknowledged' })
  await eventRow.getByText('by pull').waitFor()
})
