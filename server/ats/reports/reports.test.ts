import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reaction, ReceivedCall, SimulatedAts, SimulatedOrder } from '../../../cli/simulated-ats/simulated-ats.ts'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { type AtsSetup, aPerson, startAts, startReports } from '../../../test/support/ats/connection.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { pngImage } from '../../../test/support/images.ts'
import { passTime } from '../../../test/support/partners.ts'
import { until } from '../../../test/support/until.ts'
import { revokeAtsKey } from '../../access/ats-keys.ts'
import { changeBranding } from '../../branding/branding.ts'
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import { changeConnection, disconnect } from '../connections.ts'
import { listOrders } from '../orders.ts'
import { type AtsReport, listReports, replayReport } from './reports.ts'

const getApp = oncePerFile((t) => startApp(t))

test('a report that fails is sent again until the ATS accepts it', async (t) => {
  const app = await getApp()
  const reactions: Reaction[] = [
    { status: 500 },
    { status: 401 },
    { status: 403, body: { message: 'error code: 1010' } },
    { status: 429, headers: { 'retry-after': '3600' } },
  ]
  const { setup, order } = await orderOnce(t, app, 'workable', () => reactions.shift())
  const failedAttempt = async (attempts: number) => {
    const report = await until(async () => (await reportsOf(app, setup)).find((each) => each.attempts === attempts))
    return until(async () => (await reportsOf(app, setup))[0]!.last_status !== null && report)
  }
  for (const [attempts, waitMs] of [
    [1, 10_000],
    [2, MINUTE],
    [3, 3 * MINUTE],
    [4, 2 * HOUR],
  ] as const) {
    await failedAttempt(attempts)
    assert.equal(order.state, 'ordered')
    await until(async () => (await reportsOf(app, setup))[0]!.next_attempt_at.getTime() !== app.clock.now() + 15_000)
    app.clock.advance(waitMs)
  }
  await until(() => order.state === 'completed')
  assert.equal(order.reports, 1)
  assert.deepEqual(setup.ats.violations, [])
})

for (const rejection of [404, 409, 422])
  test(`a report that the ATS rejects with ${rejection} is not repeated, and can be replayed`, async (t) => {
    const app = await getApp()
    let isRejected = true
    const { setup, order } = await orderOnce(t, app, 'greenhouse', () =>
      isRejected ? { status: rejection } : undefined,
    )
    const failed = await until(async () => (await reportsOf(app, setup)).find(({ state }) => state === 'failed'))
    assert.equal(failed.last_status, rejection)
    assert.equal(failed.last_request!.method, 'PATCH')
    app.clock.advance(DAY)
    isRejected = false
    await app.context.db.transaction((tx) => replayReport(tx, app.clock, setup.partner.scope, order.assessmentId!))
    await until(() => order.state === 'complete')
    assert.equal((await reportsOf(app, setup))[0]!.attempts, 2)
  })

test('reports of an order wait for each other, and those of other orders do not', async (t) => {
  const app = await getApp()
  startReports(t, app)
  const setup = await startAts(t, app, 'ashby')
  const { mandate_id } = await setup.partner.createMandate()
  const [blocked, free] = [
    await setup.ats.order('application-1', mandate_id, aPerson(1)),
    await setup.ats.order('application-2', mandate_id, aPerson(2)),
  ]
  let isBlocked = true
  setup.ats.react = ({ body }: ReceivedCall) =>
    isBlocked && (body as { assessment_id: string }).assessment_id === blocked.assessmentId
      ? { status: 503 }
      : undefined
  await passTime(app, 10_000)
  await until(() => free.state === 'complete')
  assert.equal(blocked.state, 'ordered')
  isBlocked = false
  app.clock.advance(HOUR)
  await until(() => blocked.state === 'complete')
  assert.deepEqual([blocked.reports, free.reports], [2, 2])
  assert.deepEqual(setup.ats.violations, [])
})

test('a report that Ashby rejects with the status 200 is sent again', async (t) => {
  const app = await getApp()
  let rejection: Reaction | undefined = { status: 200, body: { success: false, errorInfo: { message: 'Try again' } } }
  const { setup, order } = await orderOnce(t, app, 'ashby', () => rejection)
  await until(async () => /Ashby rejected the report: Try again/.test(JSON.stringify(await reportsOf(app, setup))))
  assert.equal(order.reports, 0)
  rejection = undefined
  app.clock.advance(HOUR)
  await until(() => order.state === 'complete')
  assert.equal(order.reports, 2)
})

test('a replay sends the last report with a later time', async (t) => {
  const app = await getApp()
  const { setup, order } = await orderOnce(t, app, 'ashby', () => undefined)
  await until(() => order.state === 'complete')
  const firstTime = (order.result as { timestamp: number }).timestamp
  await app.context.db.transaction((tx) => replayReport(tx, app.clock, setup.partner.scope, order.assessmentId!))
  await until(() => order.reports === 3)
  assert.ok((order.result as { timestamp: number }).timestamp > firstTime)
  assert.deepEqual(setup.ats.violations, [])
})

test('an ATS that does not respond does not delay the reports to others', async (t) => {
  const app = await getApp()
  const [hanging, responding] = [await startAts(t, app, 'workable'), await startAts(t, app, 'workable')]
  startReports(t, app)
  hanging.ats.react = () => 'hang'
  const orders: { ats: SimulatedAts; order: SimulatedOrder }[] = []
  for (const { ats, partner } of [hanging, responding]) {
    const { mandate_id } = await partner.createMandate()
    for (let number = 1; number <= 12; number++)
      orders.push({ ats, order: await ats.order(`order-${number}`, mandate_id, aPerson(number)) })
  }
  await passTime(app, 10_000)
  await until(() => orders.every(({ ats, order }) => ats === hanging.ats || order.state === 'completed'), 9000)
  assert.ok(orders.every(({ ats, order }) => ats !== hanging.ats || order.state === 'ordered'))
})

test('a new credential is used for reports that wait', async (t) => {
  const app = await getApp()
  const { setup, order } = await orderOnce(t, app, 'ashby', () => undefined, { token: 'an-expired-key' })
  await until(async () => (await reportsOf(app, setup))[0]?.last_status === 401)
  await app.context.db.transaction((tx) =>
    changeConnection(tx, app.context, setup.partner.scope, setup.connectionId, { token: 'token-that-the-ats-issued' }),
  )
  app.clock.advance(MINUTE)
  await until(() => order.state === 'complete')
})

test('a report is not sent while the connection has no active key', async (t) => {
  const app = await getApp()
  const { context, clock } = app
  startReports(t, app)
  const setup = await startAts(t, app, 'greenhouse')
  const { mandate_id } = await setup.partner.createMandate()
  const order = await setup.ats.order('order-1', mandate_id, aPerson(1))
  await context.db.transaction((tx) => revokeAtsKey(tx, clock, setup.connectionId, setup.keyId))
  await passTime(app, 10_000)
  const report = await until(async () => (await reportsOf(app, setup)).find(({ last_error }) => last_error !== null))
  assert.equal(report.last_error, 'not sent: the connection has no active key')
  assert.deepEqual([report.state, report.last_request, order.reports], ['pending', null, 0])
})

test('after disconnecting, keys and links are invalid and no report is sent', async (t) => {
  const app = await getApp()
  startReports(t, app)
  const setup = await startAts(t, app, 'workable')
  const { mandate_id } = await setup.partner.createMandate()
  const finished = await setup.ats.order('order-1', mandate_id, aPerson(1))
  await passTime(app, 10_000)
  await until(() => finished.state === 'completed')
  const open = await setup.ats.order('order-2', mandate_id, aPerson(2))
  const { pathname } = new URL((finished.result as { results_url: string }).results_url)
  assert.equal((await fetchPage(app, pathname)).status, 200)

  await app.context.db.transaction((tx) => disconnect(tx, app.context, setup.partner.scope, setup.connectionId))
  await app.context.keyring.refresh()
  await passTime(app, 10_000)

  assert.equal((await setup.ats.order('order-3', mandate_id, aPerson(3))).status, 401)
  assert.equal((await fetchPage(app, pathname)).status, 404)
  assert.equal(open.state, 'ordered')
  const orders = await listOrders(app.context.db.queries, setup.partner.scope, { limit: 10 })
  assert.deepEqual(
    orders.map(({ state }) => state),
    ['completed', 'completed'],
  )
})

test('reports that wait when the ATS is disconnected fail, and cannot be replayed', async (t) => {
  const app = await getApp()
  const { setup, order } = await orderOnce(t, app, 'ashby', () => ({ status: 503 }))
  await until(async () => (await reportsOf(app, setup))[0]?.last_status === 503)
  await app.context.db.transaction((tx) => disconnect(tx, app.context, setup.partner.scope, setup.connectionId))
  const reports = await reportsOf(app, setup)
  assert.ok(reports.length > 0)
  for (const { state, last_error } of reports)
    assert.deepEqual([state, last_error], ['failed', 'the ATS was disconnected'])
  await assert.rejects(
    app.context.db.transaction((tx) => replayReport(tx, app.clock, setup.partner.scope, order.assessmentId!)),
    /The ATS is disconnected; reports can no longer be sent\./,
  )
})

test('the report page shows the result and no contact data, until the link expires', async (t) => {
  const app = await getApp()
  const { setup, order } = await orderOnce(t, app, 'workable', () => undefined, {}, { phone: '+919990000001' })
  await until(() => order.state === 'completed')
  const url = (order.result as { results_url: string }).results_url
  assert.ok(url.startsWith(`${app.context.config.publicUrl}/reports/AO_`))
  const { pathname } = new URL(url)
  const page = await fetchPage(app, pathname)
  assert.equal(page.status, 200)
  assert.match(page.text, /<h1>Report: Person 1<\/h1>/)
  assert.match(page.text, /Qualified\. 3 of 3 skills verified/)
  assert.match(page.text, /<td>Verified<\/td>\s*<td>\d of \d correct, \d\d\u00a0%\u00a0certain<\/td>/)
  assert.match(page.text, /Do you hold a wireman licence\?<\/dt><dd dir="auto">Yes/)
  assert.match(page.text, /TEST: this is not the report of a real person/)
  assert.doesNotMatch(page.text, /9990000001|@test\.attestry/)
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')

  const logo = pngImage(200, 50).toString('base64')
  await app.context.db.transaction((tx) =>
    changeBranding(tx, app.clock, setup.partner.orgId, { display_name: 'Metro Staffing', colour: '#7a1fa2', logo }),
  )
  const branded = await fetchPage(app, pathname)
  assert.match(
    branded.text,
    /<header class="brand"><img src="[^"]+" width="96" height="24" alt=""><span dir="auto">Metro/,
  )
  assert.match(branded.text, /a\{color:#7a1fa2\}/)
  const [, logoUrl] = /<img src="([^"]+)"/.exec(branded.text)!
  assert.ok(branded.text.includes(`<link rel="icon" href="${logoUrl}">`))
  assert.match(branded.headers.get('content-security-policy')!, /style-src 'sha256-\S+' 'sha256-\S+'; img-src 'self'/)

  assert.match(page.text, /<a href="AO_[\w.-]+\.pdf">Open as PDF<\/a>/)
  const pdf = await fetchPdf(app, `${pathname}.pdf`)
  assert.equal(pdf.headers.get('content-type'), 'application/pdf')
  assert.equal(pdf.headers.get('content-disposition'), `inline; filename="report-${order.assessmentId}.pdf"`)
  assert.match(pdf.text, /^%PDF-1\.7/)
  assert.match(pdf.text, /\(Report: Person 1\)/)
  assert.match(pdf.text, /\/StructTreeRoot/)
  assert.ok(pdf.text.includes(`/URI (${url})`), 'the file links to the page')

  const changed = pathname.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  assert.equal((await fetchPage(app, changed)).status, 404)
  assert.equal((await fetchPage(app, `${changed}.pdf`)).status, 404)
  const later = pathname.replace(
    /\.([0-9a-z]+)\./,
    (_, seconds) => `.${(Number.parseInt(seconds, 36) + 1).toString(36)}.`,
  )
  assert.equal((await fetchPage(app, later)).status, 404)
  app.clock.advance(181 * DAY)
  const expired = await fetchPage(app, pathname)
  assert.equal(expired.status, 410)
  assert.doesNotMatch(expired.text, /Person 1/)
  assert.ok(setup.keyId)
})

test('a shared link of Workable opens the report for seven days', async (t) => {
  const app = await getApp()
  const { setup, order } = await orderOnce(t, app, 'workable', () => undefined)
  await until(() => order.state === 'completed')
  const { pathname } = new URL((await setup.ats.getSharedLink!(order.assessmentId!))!)
  assert.match((await fetchPage(app, pathname)).text, /<h1>Report: Person 1<\/h1>/)
  const other = await startAts(t, app, 'workable')
  assert.equal(await other.ats.getSharedLink!(order.assessmentId!), undefined)
  app.clock.advance(7 * DAY)
  assert.equal((await fetchPage(app, pathname)).status, 410)
  assert.deepEqual(setup.ats.violations, [])
})

test('a PDF file replaces texts in scripts that its fonts lack, and the page shows them', async (t) => {
  const app = await getApp()
  const { order } = await orderOnce(t, app, 'workable', () => undefined, {}, { firstName: 'Kavya', lastName: 'காவ்யா' })
  await until(() => order.state === 'completed')
  const { pathname } = new URL((order.result as { results_url: string }).results_url)
  assert.match((await fetchPage(app, pathname)).text, /<h1>Report: Kavya காவ்யா<\/h1>/)
  const pdf = await fetchPdf(app, `${pathname}.pdf`)
  assert.match(pdf.text, /\(Report: Kavya \[Tamil text\]\)/)
})

/** Orders one assessment, which passes, with reports that the ATS reacts to with `react`. */
async function orderOnce(
  t: Parameters<typeof startReports>[0],
  app: TestApp,
  adapter: 'ashby' | 'greenhouse' | 'workable',
  react: (call: ReceivedCall) => Reaction | undefined,
  input: { token?: string } = {},
  person: object = {},
) {
  startReports(t, app)
  const setup = await startAts(t, app, adapter, { input })
  setup.ats.react = react
  const { mandate_id } = await setup.partner.createMandate()
  const order = await setup.ats.order('order-1', mandate_id, aPerson(1, 1, person))
  assert.equal(order.status, 200, order.message)
  await passTime(app, 10_000)
  return { setup, order }
}

async function reportsOf({ context }: TestApp, { partner }: AtsSetup): Promise<AtsReport[]> {
  const orders = await listOrders(context.db.queries, partner.scope, { limit: 10 })
  return listReports(
    context.db.queries,
    orders.map(({ order_id }) => order_id),
  )
}

async function fetchPage({ url }: TestApp, path: string) {
  const response = await fetch(url + path)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Returns the bytes as text with one character per byte: only the streams of a PDF file are compressed. */
async function fetchPdf({ url }: TestApp, path: string) {
  const response = await fetch(url + path)
  return { headers: response.headers, text: Buffer.from(await response.arrayBuffer()).toString('latin1') }
}
